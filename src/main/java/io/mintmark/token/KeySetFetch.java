package io.mintmark.token;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.json.StrictJson;
import io.mintmark.outbound.GuardedHttp;
import io.mintmark.outbound.OutboundFailure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Keys as issuers publish them: inline, at {@code jwks_uri}, at the issuer's default address, or
 * where its discovery document (OpenID Connect Discovery 1.0 section 4) says.
 */
final class KeySetFetch implements KeyFetch {
    private static final int MAX_DISCOVERY_BYTES = 64 << 10;

    private final GuardedHttp http;

    KeySetFetch(GuardedHttp http) {
        this.http = http;
    }

    @Override
    public KeySet fetch(KeySource source) throws IOException {
        if (source.jwks().isPresent()) {
            return keySet(source.jwks().get().getBytes(StandardCharsets.UTF_8), "jwks");
        }
        if (source.jwksUri().isPresent()) {
            return published(source, source.jwksUri().get(), "jwks_uri");
        }
        try {
            return published(source, wellKnown(source, "jwks.json"), "jwks.json");
        } catch (OutboundFailure e) {
            if (!e.answered()) {
                throw e;
            }
            return discovered(source, e);
        } catch (NoKeySet e) {
            return discovered(source, e);
        }
    }

    private KeySet discovered(KeySource source, IOException first) throws IOException {
        try {
            byte[] answer =
                    http.get(wellKnown(source, "openid-configuration"), source.caCertificate());
            String address =
                    StrictJson.object(answer, MAX_DISCOVERY_BYTES)
                            .filter(d -> source.issuer().equals(d.path("issuer").textValue()))
                            .flatMap(KeySetFetch::jwksUri)
                            .orElseThrow(() -> new NoKeySet("no discovery document of the issuer"));
            return published(source, address, "the discovery document's jwks_uri");
        } catch (IOException e) {
            e.addSuppressed(first);
            throw e;
        }
    }

    private KeySet published(KeySource source, String address, String where) throws IOException {
        return keySet(http.get(address, source.caCertificate()), where);
    }

    private static KeySet keySet(byte[] json, String where) throws NoKeySet {
        return KeySet.parse(json).orElseThrow(() -> new NoKeySet(where + " gives no JWK set"));
    }

    private static Optional<String> jwksUri(ObjectNode discovery) {
        return Optional.ofNullable(discovery.path("jwks_uri").textValue());
    }

    /** One trailing slash of the issuer is dropped for addresses only. */
    private static String wellKnown(KeySource source, String document) {
        String issuer = source.issuer();
        String base = issuer.endsWith("/") ? issuer.substring(0, issuer.length() - 1) : issuer;
        return base + "/.well-known/" + document;
    }

    /** An answer came, and it isn't what it should be. */
    private static final class NoKeySet extends IOException {
        private static final long serialVersionUID = 1L;

        NoKeySet(String message) {
            super(message);
        }
    }
}
