package io.mintmark.provider.azure;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.provider.OAuthCall;
import io.mintmark.provider.OAuthRefusal;
import io.mintmark.provider.PublishedKeys;
import io.mintmark.provider.TokenEndpoint;

import java.text.ParseException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Entra with one directory and one application that trusts the broker's tokens for one key. It
 * refuses what the real one would, in its words and with its numbers, and what no caller of its
 * documentation would send.
 */
public final class EntraStandIn implements TokenEndpoint.Rules, AutoCloseable {
    public static final String DIRECTORY = "72f988bf-86f1-41af-91ab-2d7cd011db47";
    public static final String APPLICATION = "11111111-2222-3333-4444-555555555555";

    /** Entra picks a lifetime between 60 and 90 minutes. */
    public static final int LIFETIME = 4_711;

    private static final String PATH = "/" + DIRECTORY + "/oauth2/v2.0/token";
    private static final Set<String> PARAMETERS =
            Set.of("grant_type", "client_id", "scope", "client_assertion_type", "client_assertion");

    private final PublishedKeys keys;
    private final String issuer;
    private final String subject;
    private final TokenEndpoint endpoint = new TokenEndpoint(this);
    private final AtomicInteger issued = new AtomicInteger();

    /**
     * @param subject of the federated credential: {@code tenant:<tenant>:key:<key>}
     */
    public EntraStandIn(String issuer, Supplier<String> keySet, String subject) {
        this.issuer = issuer;
        this.keys = new PublishedKeys(keySet);
        this.subject = subject;
    }

    /** What is its authority. */
    public String authority() {
        return endpoint.origin();
    }

    public TokenEndpoint endpoint() {
        return endpoint;
    }

    /** The token of a call. */
    public static JWTClaimsSet assertion(OAuthCall call) throws ParseException {
        return SignedJWT.parse(call.parameter("client_assertion").orElseThrow()).getJWTClaimsSet();
    }

    @Override
    public void close() {
        endpoint.close();
    }

    @Override
    public Map<String, Object> answer(OAuthCall call) throws OAuthRefusal {
        checkForm(call);
        checkAssertion(call.required("client_assertion"));
        return Map.of(
                "token_type",
                "Bearer",
                "expires_in",
                LIFETIME,
                "ext_expires_in",
                LIFETIME,
                "access_token",
                "the-entra-token-" + issued.incrementAndGet());
    }

    private static void checkForm(OAuthCall call) throws OAuthRefusal {
        if (!call.path().equals(PATH)) {
            throw refusal(400, "invalid_request", 90002, "Tenant not found in " + call.path());
        }
        if (!call.parameters().keySet().equals(PARAMETERS)) {
            throw refusal(400, "invalid_request", 900144, "Parameters " + call.parameters());
        }
        if (call.header("Authorization").isPresent()) {
            throw refusal(400, "invalid_request", 90023, "Two ways of authentication");
        }
        UUID.fromString(call.header("client-request-id").orElseThrow());
        require(call, "grant_type", "client_credentials", 70003);
        require(
                call,
                "client_assertion_type",
                "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                90023);
        require(call, "client_id", APPLICATION, 700016);
        if (!call.required("scope").matches("[^ ]+/\\.default")) {
            throw refusal(
                    400,
                    "invalid_scope",
                    1002012,
                    "The provided value for scope is not valid. Client credential flows must have"
                            + " a scope value with /.default suffixed to the resource identifier");
        }
    }

    private static void require(OAuthCall call, String name, String value, int number)
            throws OAuthRefusal {
        if (!call.required(name).equals(value)) {
            throw refusal(400, "unauthorized_client", number, "No such " + name);
        }
    }

    private void checkAssertion(String assertion) throws OAuthRefusal {
        try {
            SignedJWT token = keys.verified(assertion);
            if (!token.getHeader().getAlgorithm().getName().equals("RS256")) {
                throw identity(700027, "The algorithm is not supported");
            }
            checkClaims(token.getJWTClaimsSet());
        } catch (ParseException | JOSEException e) {
            throw identity(700027, "Client assertion failed signature validation");
        }
    }

    private void checkClaims(JWTClaimsSet claims) throws OAuthRefusal {
        if (!issuer.equals(claims.getIssuer())) {
            throw identity(700211, "No matching federated identity record found for issuer");
        }
        if (!List.of("api://AzureADTokenExchange").equals(claims.getAudience())) {
            throw identity(700212, "No matching federated identity record found for audience");
        }
        if (!subject.equals(claims.getSubject())) {
            throw identity(700213, "No matching federated identity record found for subject");
        }
        Instant now = Instant.now();
        if (claims.getExpirationTime().toInstant().isBefore(now)
                || Optional.ofNullable(claims.getNotBeforeTime())
                        .filter(time -> time.toInstant().isAfter(now))
                        .isPresent()) {
            throw identity(700024, "Client assertion is not within its valid time range");
        }
    }

    private static OAuthRefusal identity(int number, String description) {
        return refusal(401, "invalid_client", number, description);
    }

    private static OAuthRefusal refusal(int status, String error, int number, String description) {
        return new OAuthRefusal(
                status,
                error,
                "AADSTS%d: %s.\r\nTrace ID: 0000aaaa-11bb-cccc-dd22-eeeeee333333"
                        .formatted(number, description));
    }
}
