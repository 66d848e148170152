package io.mintmark.broker.token;

import io.mintmark.base.tenant.TenantName;

/** Called when the verification of a token has to wait until signing keys are fetched. */
@FunctionalInterface
public interface KeyWait {
    /** Allows every wait. */
    KeyWait ALLOWED = _ -> {};

    /**
     * Called on the request's thread before each wait.
     *
     * @param tenant the tenant of the identity provider whose keys are missing; the token leads to
     *     it, but isn't verified yet
     * @throws io.mintmark.base.verdict.Unavailable if too many of the tenant's requests wait
     *     already
     */
    void begins(TenantName tenant);
}
