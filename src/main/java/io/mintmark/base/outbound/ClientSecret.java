package io.mintmark.base.outbound;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * The id and the secret with which a client authenticates to an authorization server (RFC 6749
 * section 2.3.1).
 */
public record ClientSecret(String id, Secret secret) {

    /** The id and the secret as in the header {@code Authorization}, encoded twice. */
    Secret credentials() {
        String pair = FormBody.encoded(id) + ":" + FormBody.encoded(secret.reveal());
        return new Secret(
                Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8)));
    }
}
