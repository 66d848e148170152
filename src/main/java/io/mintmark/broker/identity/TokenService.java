package io.mintmark.broker.identity;

import io.mintmark.base.outbound.Secret;
import io.mintmark.provider.identity.NoBrokerTokenException;

import java.time.Instant;

/** Issues tokens for the broker. */
interface TokenService {

    /** A token that an identity provider gave the broker. */
    record IssuedToken(Secret text, Instant expiresAt) {}

    /**
     * A new token, blocking for some seconds at most.
     *
     * @throws NoBrokerTokenException if there is none
     */
    IssuedToken issue();
}
