package io.mintmark.provider.oauth2;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

import io.mintmark.provider.OAuthCall;
import io.mintmark.provider.OAuthRefusal;
import io.mintmark.provider.PublishedKeys;
import io.mintmark.provider.TokenEndpoint;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * An authorization server with token exchange (RFC 8693) that trusts the broker's tokens for its
 * own origin. It takes the parameters that the standard names and no others, and knows its client
 * in one of three ways.
 */
public final class TokenExchangeStandIn implements TokenEndpoint.Rules, AutoCloseable {
    public static final int LIFETIME = 300;
    public static final String CLIENT = "mint mark:1%";
    public static final String SECRET = "s3cret+&/:ä";

    private static final String JWT = "urn:ietf:params:oauth:token-type:jwt";
    private static final Set<String> OF_THE_EXCHANGE =
            Set.of(
                    "grant_type",
                    "subject_token",
                    "subject_token_type",
                    "audience",
                    "resource",
                    "scope",
                    "requested_token_type");

    /** How its client proves itself. */
    public enum Clients {
        NONE,
        TOLD,
        SECRET,
        KEY
    }

    private final PublishedKeys keys;
    private final String issuer;
    private final Clients clients;
    private final Set<String> seenAssertions = ConcurrentHashMap.newKeySet();
    private final TokenEndpoint endpoint = new TokenEndpoint(this);
    private final AtomicInteger issued = new AtomicInteger();

    public TokenExchangeStandIn(String issuer, Supplier<String> keySet, Clients clients) {
        this.issuer = issuer;
        this.keys = new PublishedKeys(keySet);
        this.clients = clients;
    }

    /** Its token endpoint. */
    public String url() {
        return endpoint.origin() + "/oauth2/token";
    }

    public TokenEndpoint endpoint() {
        return endpoint;
    }

    /** The broker's token of a call. */
    public static SignedJWT subjectToken(OAuthCall call) throws ParseException {
        return SignedJWT.parse(call.parameter("subject_token").orElseThrow());
    }

    @Override
    public void close() {
        endpoint.close();
    }

    @Override
    public Map<String, Object> answer(OAuthCall call) throws OAuthRefusal {
        checkClient(call);
        checkExchange(call);
        return Map.of(
                "access_token",
                "the-exchanged-token-" + issued.incrementAndGet(),
                "issued_token_type",
                "urn:ietf:params:oauth:token-type:access_token",
                "token_type",
                "Bearer",
                "expires_in",
                LIFETIME);
    }

    private void checkExchange(OAuthCall call) throws OAuthRefusal {
        if (!call.path().equals("/oauth2/token")) {
            throw new OAuthRefusal(404, "invalid_request", "nothing is here");
        }
        if (!call.required("grant_type")
                .equals("urn:ietf:params:oauth:grant-type:token-exchange")) {
            throw new OAuthRefusal(400, "unsupported_grant_type", "only token exchange");
        }
        if (!call.required("subject_token_type").equals(JWT)) {
            throw OAuthRefusal.invalid("unsupported subject_token_type");
        }
        checkSubject(call.required("subject_token"));
        if (call.parameter("audience").filter("closed"::equals).isPresent()) {
            throw new OAuthRefusal(400, "invalid_target", "not for you");
        }
    }

    private void checkSubject(String text) throws OAuthRefusal {
        try {
            SignedJWT token = keys.verified(text);
            JWTClaimsSet claims = token.getJWTClaimsSet();
            if (!"JWT".equals(token.getHeader().getType().getType())
                    || !issuer.equals(claims.getIssuer())
                    || !List.of(endpoint.origin()).equals(claims.getAudience())
                    || isOver(claims)) {
                throw OAuthRefusal.invalid("the subject_token isn't for this server");
            }
        } catch (ParseException | JOSEException e) {
            throw OAuthRefusal.invalid("the subject_token can't be verified");
        }
    }

    private void checkClient(OAuthCall call) throws OAuthRefusal {
        Set<String> allowed = new HashSet<>(OF_THE_EXCHANGE);
        Optional<String> authorization = call.header("Authorization");
        if (authorization.isPresent() != (clients == Clients.SECRET)) {
            throw noClient("authentication by a header, or the lack of it");
        }
        switch (clients) {
            case NONE -> {}
            case TOLD -> {
                allowed.add("client_id");
                if (!call.required("client_id").equals(CLIENT)) {
                    throw noClient("unknown client");
                }
            }
            case SECRET -> checkSecret(authorization.orElseThrow());
            case KEY -> {
                allowed.addAll(Set.of("client_assertion", "client_assertion_type"));
                checkAssertion(call);
            }
        }
        Map<String, String> others = new HashMap<>(call.parameters());
        others.keySet().removeAll(allowed);
        if (!others.isEmpty()) {
            throw OAuthRefusal.invalid("unknown parameters " + others.keySet());
        }
    }

    /** RFC 6749 section 2.3.1: both are encoded as in a form, then joined, then base64. */
    private static void checkSecret(String authorization) throws OAuthRefusal {
        String basic =
                new String(
                        Base64.getDecoder().decode(authorization.substring("Basic ".length())),
                        StandardCharsets.US_ASCII);
        String[] parts = basic.split(":", -1);
        if (parts.length != 2
                || !URLDecoder.decode(parts[0], StandardCharsets.UTF_8).equals(CLIENT)
                || !URLDecoder.decode(parts[1], StandardCharsets.UTF_8).equals(SECRET)) {
            throw noClient("wrong client or secret");
        }
    }

    /** RFC 7523 section 3. */
    private void checkAssertion(OAuthCall call) throws OAuthRefusal {
        if (!call.required("client_assertion_type")
                .equals("urn:ietf:params:oauth:client-assertion-type:jwt-bearer")) {
            throw noClient("unknown type of assertion");
        }
        try {
            SignedJWT assertion = keys.verified(call.required("client_assertion"));
            JWTClaimsSet claims = assertion.getJWTClaimsSet();
            if (!assertion.getHeader().getType().getType().equals("client-authentication+jwt")
                    || !CLIENT.equals(claims.getIssuer())
                    || !CLIENT.equals(claims.getSubject())
                    || !List.of(url()).equals(claims.getAudience())
                    || isOver(claims)
                    || !seenAssertions.add(claims.getJWTID())) {
                throw noClient("assertion not accepted");
            }
        } catch (ParseException | JOSEException e) {
            throw noClient("assertion can't be verified");
        }
    }

    private static boolean isOver(JWTClaimsSet claims) {
        Instant now = Instant.now();
        Instant expiry = claims.getExpirationTime().toInstant();
        return expiry.isBefore(now) || expiry.isAfter(now.plus(Duration.ofMinutes(5)));
    }

    private static OAuthRefusal noClient(String description) {
        return new OAuthRefusal(401, "invalid_client", description);
    }
}
