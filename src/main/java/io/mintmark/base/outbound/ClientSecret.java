package io.mintmark.base.outbound;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** With what a client proves itself to an authorization server (RFC 6749 section 2.3.1). */
public record ClientSecret(String id, Secret secret) {

    /** Both as in the header {@code Authorization}, encoded twice. */
    Secret credentials() {
        String pair = FormBody.encoded(id) + ":" + FormBody.encoded(secret.reveal());
        return new Secret(
                Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8)));
    }
}
