package io.mintmark.broker.token;

import java.util.Optional;

/**
 * Where the signing keys of an identity provider are: inline, else at an address, else at the
 * issuer's default address or where its discovery document says.
 *
 * @param jwks a JWK set (RFC 7517 section 5), as text
 * @param jwksUri the address of a JWK set
 * @param caCertificate PEM of the authority that the issuer's TLS certificate is checked against
 */
public record KeySource(
        String issuer,
        Optional<String> jwks,
        Optional<String> jwksUri,
        Optional<String> caCertificate) {
    private static final int OBJECTS = 512;

    /** An upper bound of the source's size on the heap, in bytes. */
    public long bytes() {
        int characters = issuer.length() + length(jwks) + length(jwksUri) + length(caCertificate);
        return OBJECTS + (long) Character.BYTES * characters;
    }

    private static int length(Optional<String> text) {
        return text.map(String::length).orElse(0);
    }
}
