package io.mintmark.token;

import java.util.Base64;
import java.util.Optional;

/**
 * base64url without padding (RFC 7515 section 2), in the one spelling that encoding yields: else a
 * token could be respelled, and its hash would not find it again.
 */
final class CanonicalBase64 {
    private CanonicalBase64() {}

    static Optional<byte[]> decode(String text) {
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(text);
            String canonical = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
            return canonical.equals(text) ? Optional.of(bytes) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
