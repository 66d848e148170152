package io.mintmark.console;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.json.StrictJson;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.OutboundFailure;

import java.net.URI;
import java.util.Optional;

/**
 * The endpoints for login and logout, from the identity provider's discovery document (OpenID
 * Connect Discovery 1.0 section 4).
 *
 * @param authorization where browsers are redirected
 * @param token where a code is exchanged
 * @param keys its signing keys
 * @param endSession where a session ends, if supported (RP-Initiated Logout 1.0)
 * @param takesSecretInForm whether the client's secret may be sent in the form
 */
public record LoginEndpoints(
        String issuer,
        URI authorization,
        URI token,
        URI keys,
        Optional<URI> endSession,
        boolean takesSecretInForm) {
    private static final int LONGEST = 64 << 10;

    /** The endpoints can't be fetched, or belong to another issuer. */
    public static final class Unusable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Unusable(String message) {
            super(message);
        }
    }

    /**
     * Asks the issuer.
     *
     * @throws Unusable whose message says why, as the end of a sentence
     */
    public static LoginEndpoints of(String issuer, GuardedHttp http) {
        String base = issuer.endsWith("/") ? issuer.substring(0, issuer.length() - 1) : issuer;
        byte[] document;
        try {
            document = http.getOfService(base + "/.well-known/openid-configuration");
        } catch (OutboundFailure e) {
            throw new Unusable("the discovery document can't be fetched: " + e.getMessage());
        }
        return read(
                issuer,
                StrictJson.object(document, LONGEST)
                        .orElseThrow(() -> new Unusable("the discovery document is not JSON")));
    }

    /** A document of another issuer would send people, and the client's secret, elsewhere. */
    private static LoginEndpoints read(String issuer, ObjectNode document) {
        String named = document.path("issuer").asText();
        if (!issuer.equals(named)) {
            throw new Unusable(
                    "the discovery document names another issuer, '%s'".formatted(named));
        }
        return new LoginEndpoints(
                issuer,
                required(document, "authorization_endpoint"),
                required(document, "token_endpoint"),
                required(document, "jwks_uri"),
                named(document, "end_session_endpoint"),
                document.path("token_endpoint_auth_methods_supported")
                        .valueStream()
                        .anyMatch(method -> method.asText().equals("client_secret_post")));
    }

    private static URI required(ObjectNode document, String member) {
        return named(document, member)
                .orElseThrow(
                        () -> new Unusable("the discovery document names no %s".formatted(member)));
    }

    private static Optional<URI> named(ObjectNode document, String member) {
        return Optional.ofNullable(document.path(member).textValue())
                .map(text -> {
                    try {
                        return Destinations.url(text);
                    } catch (IllegalArgumentException e) {
                        throw new Unusable(
                                "the discovery document has a %s that %s"
                                        .formatted(member, e.getMessage()));
                    }
                });
    }
}
