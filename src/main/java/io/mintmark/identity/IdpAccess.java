package io.mintmark.identity;

import java.net.URI;
import java.util.Optional;

/**
 * How the broker gets tokens from an identity provider.
 *
 * @param issuer exactly as it calls itself; there unless the endpoint is
 * @param tokenEndpoint where it gives tokens, if its discovery document needn't say so
 * @param audience for whom, if the identity provider takes that parameter
 * @param scope words with spaces between them
 */
public record IdpAccess(
        Optional<String> issuer,
        Optional<URI> tokenEndpoint,
        IdpClient client,
        Optional<String> audience,
        Optional<String> scope) {

    public IdpAccess {
        if (issuer.isEmpty() && tokenEndpoint.isEmpty()) {
            throw new IllegalArgumentException("neither an issuer nor a token endpoint");
        }
    }
}
