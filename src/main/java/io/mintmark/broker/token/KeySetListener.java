package io.mintmark.broker.token;

import io.mintmark.base.tenant.TenantName;

import java.time.Duration;

/** Listens to fetches of key sets; must neither block nor throw. */
public interface KeySetListener {
    /** How a fetch ended. */
    enum FetchResult {
        SUCCEEDED,
        FAILED,
        /**
         * The fetch wasn't started, because too many others were running. This says nothing about
         * the issuer.
         */
        BUSY
    }

    /**
     * A key set was fetched, or couldn't be. One in an identity provider's row isn't fetched.
     *
     * @param tenant in whose name; others may use the same source
     */
    void fetched(TenantName tenant, KeySource source, FetchResult result, Duration taken);
}
