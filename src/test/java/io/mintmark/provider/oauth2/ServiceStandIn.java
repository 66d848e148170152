package io.mintmark.provider.oauth2;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jwt.JWTClaimsSet;

import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.OAuthCall;
import io.mintmark.provider.OAuthRefusal;
import io.mintmark.provider.PublishedKeys;
import io.mintmark.provider.TokenEndpoint;

import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The token endpoint of a service that accepts other issuers' tokens. It refuses what the service's
 * documentation (docs/providers/services.md) says that it refuses, and every parameter that the
 * documentation doesn't have.
 */
final class ServiceStandIn implements TokenEndpoint.Rules, AutoCloseable {
    private static final String EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
    private static final String JWT = "urn:ietf:params:oauth:token-type:jwt";
    private static final Map<String, String> RFC_8693 =
            Map.of("grant_type", EXCHANGE, "subject_token_type", JWT);

    /** The services of the recipes. */
    @SuppressWarnings("ImmutableEnumChecker") // made by Map.of
    enum Service {
        OPENAI(
                "/oauth/token",
                "subject_token",
                with(
                        RFC_8693,
                        Map.of(
                                "identity_provider_id", "wip_123",
                                "service_account_id", "user-123")),
                Map.of()),
        ANTHROPIC(
                "/v1/oauth/token",
                "assertion",
                Map.of(
                        "grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer",
                        "organization_id", "00000000-0000-0000-0000-000000000000",
                        "federation_rule_id", "fdrl_123",
                        "service_account_id", "svac_123"),
                Map.of("workspace_id", "default")),
        OPENROUTER(
                "/api/v1/oauth/token",
                "subject_token",
                with(
                        RFC_8693,
                        Map.of("federation_policy_id", "4b2f7d1e-8c3a-4e5f-9a6b-1c2d3e4f5a6b")),
                Map.of(
                        "requested_token_type", "urn:ietf:params:oauth:token-type:access_token",
                        "scope", "inference")),
        TAILSCALE(
                "/api/v2/oauth/token-exchange",
                "jwt",
                Map.of("client_id", "TrustCredential1"),
                Map.of("grant_type", EXCHANGE)),
        OCTOPUS(
                "/api/token/v1",
                "subject_token",
                with(RFC_8693, Map.of("audience", "863b4b23-61a6-4d2a-8b5c-d1c2a8f6f1c9")),
                Map.of()),
        DATABRICKS(
                "/oidc/v1/token",
                "subject_token",
                with(
                        RFC_8693,
                        Map.of(
                                "scope", "all-apis",
                                "client_id", "5f3c2a10-1111-2222-3333-444455556666")),
                Map.of("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"));

        private final String path;
        private final String tokenParameter;
        private final Map<String, String> required;
        private final Map<String, String> optional;

        Service(
                String path,
                String tokenParameter,
                Map<String, String> required,
                Map<String, String> optional) {
            this.path = path;
            this.tokenParameter = tokenParameter;
            this.required = required;
            this.optional = optional;
        }

        private boolean takesJson() {
            return switch (this) {
                case OPENAI, ANTHROPIC, OCTOPUS -> true;
                case OPENROUTER, TAILSCALE, DATABRICKS -> false;
            };
        }

        /** The lifetime of its token for one that is valid so much longer. */
        private long lifetime(Duration left) {
            return switch (this) {
                case OPENAI, DATABRICKS -> Math.min(3600, left.toSeconds());
                case OPENROUTER -> Math.min(900, left.toSeconds());
                case ANTHROPIC, TAILSCALE, OCTOPUS -> 3600;
            };
        }
    }

    private final Service service;
    private final PublishedKeys keys;
    private final Set<String> seen = ConcurrentHashMap.newKeySet();
    private final TokenEndpoint endpoint;

    ServiceStandIn(Service service, Supplier<String> keySet) {
        this.service = service;
        this.keys = new PublishedKeys(keySet);
        this.endpoint = new TokenEndpoint(this, service.takesJson());
    }

    String origin() {
        return endpoint.origin();
    }

    List<OAuthCall> calls() {
        return endpoint.calls();
    }

    @Override
    public void close() {
        endpoint.close();
    }

    @Override
    public Map<String, Object> answer(OAuthCall call) throws OAuthRefusal {
        if (!call.path().equals(service.path)) {
            throw new OAuthRefusal(404, "not_found", "nothing is here");
        }
        Set<String> unknown = new HashSet<>(call.parameters().keySet());
        unknown.removeAll(service.required.keySet());
        unknown.removeAll(service.optional.keySet());
        unknown.remove(service.tokenParameter);
        if (!unknown.isEmpty()) {
            throw OAuthRefusal.invalid("unknown parameters " + unknown);
        }
        Duration left = checkedToken(call.required(service.tokenParameter));
        for (Map.Entry<String, String> each : service.required.entrySet()) {
            if (!call.required(each.getKey()).equals(each.getValue())) {
                throw new OAuthRefusal(401, "invalid_grant", "no trust for this " + each.getKey());
            }
        }
        for (Map.Entry<String, String> each : service.optional.entrySet()) {
            if (!call.parameter(each.getKey()).orElse(each.getValue()).equals(each.getValue())) {
                throw OAuthRefusal.invalid("can't give " + each.getKey());
            }
        }
        return Map.of(
                "access_token", "the-services-token",
                "token_type", "Bearer",
                "expires_in", service.lifetime(left));
    }

    private Duration checkedToken(String text) throws OAuthRefusal {
        try {
            JWTClaimsSet claims = keys.verified(text).getJWTClaimsSet();
            Duration left = Duration.between(Instant.now(), claims.getExpirationTime().toInstant());
            if (!MintingBroker.ISSUER.equals(claims.getIssuer())
                    || !List.of(endpoint.origin()).equals(claims.getAudience())
                    || !"tenant:acme:key:deploy".equals(claims.getSubject())
                    || claims.getIssueTime() == null
                    || left.isNegative()) {
                throw new OAuthRefusal(401, "invalid_grant", "the token isn't trusted");
            }
            if (service == Service.ANTHROPIC && !seen.add(claims.getJWTID())) {
                throw new OAuthRefusal(400, "invalid_grant", "the jti was used");
            }
            return left;
        } catch (ParseException | JOSEException e) {
            throw new OAuthRefusal(401, "invalid_grant", "the token can't be verified");
        }
    }

    private static Map<String, String> with(Map<String, String> some, Map<String, String> others) {
        Map<String, String> all = new HashMap<>(some);
        all.putAll(others);
        return Map.copyOf(all);
    }
}
