package io.mintmark.identity;

/** Access tokens for clients, signed by the broker. May be called by any number of threads. */
public interface AccessTokens {

    /**
     * An access token of the tenant's issuer. It never has the broker's own {@code iss}.
     *
     * @throws NoBrokerTokenException if the broker has no signing keys
     */
    AccessToken accessToken(AccessTokenOrder order);
}
