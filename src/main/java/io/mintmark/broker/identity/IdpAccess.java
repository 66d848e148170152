package io.mintmark.broker.identity;

import java.net.URI;
import java.util.Optional;

/**
 * How the broker gets tokens from an identity provider.
 *
 * @param issuer its issuer, exactly; optional if the endpoint is given
 * @param tokenEndpoint where it issues tokens; overrides the discovery document
 * @param audience the parameter {@code audience}, if the identity provider takes it
 * @param scope words separated by spaces
 */
public record IdpAccess(
        Optional<String> issuer,
        Optional<URI> tokenEndpoint,
        IdpClient client,
        Optional<String> audience,
        Optional<String> scope) {

    public IdpAccess {
        if (issuer.isEmpty() && tokenEndpoint.isEmpty()) {
            throw new IllegalArgumentException(
                    "the broker's identity provider needs an issuer or a token endpoint");
        }
    }
}
