package io.mintmark.provider.identity;

import io.mintmark.base.outbound.Secret;

import java.time.Instant;

/** Access tokens for clients, signed by the broker. May be called by any number of threads. */
public interface AccessTokens {

    /** A signed access token and its {@code exp}. */
    record AccessToken(Secret text, Instant expiresAt) {}

    /**
     * An access token of the tenant's issuer. It never has the broker's own {@code iss}.
     *
     * @throws NoBrokerTokenException if the broker has no signing keys
     */
    AccessToken accessToken(AccessTokenOrder order);
}
