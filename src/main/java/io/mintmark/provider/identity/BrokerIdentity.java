package io.mintmark.provider.identity;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.TokenReply;

import java.util.Optional;

/** The broker's identity towards access providers. May be called by any number of threads. */
public interface BrokerIdentity {

    /**
     * A token for one mint. Its recipient can use it, so the order's audience must be one that the
     * provider may use.
     *
     * @throws NoBrokerTokenException if there is none that fits
     */
    Secret token(TokenOrder order);

    /**
     * Another token, where a provider didn't accept this one as the broker's: one that is there
     * meanwhile, or one that is fetched anew. Empty if there is no other, as where each mint has
     * its own, or if this one has just been fetched.
     */
    default Optional<Secret> insteadOf(Secret rejected) {
        return Optional.empty();
    }

    /**
     * Whether all tenants share the broker's tokens, so that a provider can't distinguish tenants.
     */
    boolean shared();

    /** The type of its tokens, by the names of RFC 8693 section 3. */
    default String tokenType() {
        return TokenReply.JWT;
    }

    /**
     * The fault that prevents it from issuing tokens now, as a sentence; empty if there is none.
     * Depends on no tenant's issuer or provider.
     */
    Optional<String> fault();
}
