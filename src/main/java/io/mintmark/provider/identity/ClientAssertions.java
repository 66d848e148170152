package io.mintmark.provider.identity;

import io.mintmark.base.outbound.Secret;

/**
 * Proof that the broker is a client of an authorization server, made with its signing key ({@code
 * private_key_jwt}: RFC 7523 section 3, OpenID Connect Core section 9). The server verifies it with
 * the keys that the broker publishes. May be called by any number of threads.
 */
public interface ClientAssertions {

    /**
     * An assertion that lives for a minute.
     *
     * <p>The same keys sign the broker's and its tenants' tokens, and issuer is the client's id: so
     * a client that is called like one of their issuers gets none, since its assertion would be a
     * token of that issuer.
     *
     * @param clientId the client that the server knows the broker as
     * @param audience the URL of the server's token endpoint
     * @param id its {@code jti}, used for no other
     * @throws NoBrokerTokenException if the client may not be called so
     */
    Secret assertion(String clientId, String audience, String id);
}
