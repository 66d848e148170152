package io.mintmark.provider.gcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.nimbusds.jwt.JWTClaimsSet;

import io.mintmark.provider.sts.StsRefusal;
import io.mintmark.provider.sts.WebIdentityCheck;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Set;

/**
 * Security Token Service API v1, method {@code token}, for one workload identity provider with the
 * attribute mapping {@code google.subject=assertion.sub} and the attribute condition {@code
 * assertion.sub.startsWith("tenant:acme:")}. A federated token lives as long as the token that it
 * was given for, an hour at most.
 */
final class GoogleTokenRules {
    private static final Set<String> FIELDS =
            Set.of(
                    "grantType",
                    "audience",
                    "scope",
                    "requestedTokenType",
                    "subjectToken",
                    "subjectTokenType",
                    "options");
    private static final Duration LONGEST = Duration.ofHours(1);
    private static final int LONGEST_SUBJECT = 127;

    private final WebIdentityCheck identity;
    private final GoogleIssuing issuing;
    private final InstantSource clock;

    GoogleTokenRules(WebIdentityCheck identity, GoogleIssuing issuing, InstantSource clock) {
        this.identity = identity;
        this.issuing = issuing;
        this.clock = clock;
    }

    /** The answer's JSON. */
    String answer(GoogleCall call) throws GoogleRefusal {
        if (call.authorization().isPresent()) {
            throw GoogleRefusal.rpc(401, "UNAUTHENTICATED", "No Authorization header here.");
        }
        call.hasOnly(FIELDS);
        equal(call, "grantType", "urn:ietf:params:oauth:grant-type:token-exchange");
        equal(call, "requestedTokenType", "urn:ietf:params:oauth:token-type:access_token");
        return switch (call.text("subjectTokenType")) {
            case "urn:ietf:params:oauth:token-type:jwt" -> federated(call);
            case "urn:ietf:params:oauth:token-type:access_token" -> bounded(call);
            default -> throw invalid("subjectTokenType");
        };
    }

    private String federated(GoogleCall call) throws GoogleRefusal {
        if (!call.text("audience").startsWith("//iam.googleapis.com/projects/")) {
            throw invalid("audience");
        }
        if (!call.text("audience").equals(GoogleStandIn.PROVIDER)) {
            throw GoogleRefusal.oauth(
                    "invalid_target",
                    "The target service indicated by the \"audience\" parameters is invalid. This"
                            + " might either be because the pool or provider is disabled or deleted or"
                            + " because it doesn't exist.");
        }
        if (call.body().has("options") || call.text("scope").isEmpty()) {
            throw GoogleRefusal.oauth("invalid_scope", "scope is needed, and no options");
        }
        JWTClaimsSet claims = verified(call.text("subjectToken"));
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        Instant expiry = claims.getExpirationTime().toInstant();
        Instant latest = now.plus(LONGEST);
        return token(
                new GoogleIssued(
                        claims.getSubject(),
                        true,
                        Set.of(call.text("scope").split(" ")),
                        expiry.isBefore(latest) ? expiry : latest,
                        false),
                now);
    }

    private JWTClaimsSet verified(String token) throws GoogleRefusal {
        try {
            JWTClaimsSet claims = identity.verify(token);
            if (claims.getSubject().length() > LONGEST_SUBJECT) {
                throw GoogleRefusal.oauth("invalid_request", "google.subject is too long");
            }
            if (!claims.getSubject().startsWith("tenant:acme:")) {
                throw GoogleRefusal.oauth(
                        "unauthorized_client",
                        "The given credential is rejected by the attribute condition.");
            }
            return claims;
        } catch (StsRefusal e) {
            throw GoogleRefusal.oauth("invalid_grant", e.message());
        }
    }

    private String bounded(GoogleCall call) throws GoogleRefusal {
        GoogleIssued source =
                issuing.living(call.text("subjectToken"))
                        .orElseThrow(() ->
                                GoogleRefusal.oauth("invalid_grant", "Invalid subject token."));
        if (source.bounded() || !source.scopes().contains(GoogleStandIn.CLOUD_PLATFORM)) {
            throw invalid("subjectToken");
        }
        boundary(call.text("options"));
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        return token(
                new GoogleIssued(
                        source.holder(),
                        source.federated(),
                        source.scopes(),
                        source.expiry(),
                        true),
                now);
    }

    private static void boundary(String options) throws GoogleRefusal {
        try {
            JsonNode rules =
                    new ObjectMapper()
                            .readTree(options)
                            .path("accessBoundary")
                            .path("accessBoundaryRules");
            if (!rules.isArray() || rules.isEmpty() || rules.size() > 10) {
                throw invalid("options");
            }
            for (JsonNode rule : rules) {
                if (!rule.path("availableResource").isTextual()
                        || !rule.path("availablePermissions").isArray()) {
                    throw invalid("options");
                }
            }
        } catch (JsonProcessingException e) {
            throw invalid("options");
        }
    }

    private String token(GoogleIssued token, Instant now) {
        return """
        {"access_token": "%s", "token_type": "Bearer", "expires_in": %d,
         "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}
        """
                .formatted(issuing.issue(token), Duration.between(now, token.expiry()).toSeconds());
    }

    private static void equal(GoogleCall call, String name, String value) throws GoogleRefusal {
        if (!call.text(name).equals(value)) {
            throw invalid(name);
        }
    }

    private static GoogleRefusal invalid(String name) {
        return GoogleRefusal.oauth("invalid_request", "Invalid value for \"%s\".".formatted(name));
    }
}
