package io.mintmark.broker.token;

import io.mintmark.base.tenant.IdpName;

import java.time.Instant;

/** Remembers the tokens of identity providers whose tokens work once. Shared by all replicas. */
public interface UsedTokens {

    /**
     * Uses a token up, atomically.
     *
     * @param tokenId the {@code jti} claim
     * @param until when the token stops being acceptable by itself and may be forgotten
     * @return whether this was its first use
     */
    boolean use(IdpName idp, String tokenId, Instant until);
}
