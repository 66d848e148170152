package io.mintmark.broker.exchange;

import io.mintmark.base.tenant.TenantName;

/**
 * A request's permit among the requests that the server processes at a time. It is returned as soon
 * as the request's tenant is known and the request must wait; from then on the request counts for
 * that tenant.
 *
 * <p>Only the request's own thread calls it, because the server finds the permit by the thread. A
 * later check of the token, on any thread, refuses to wait for keys instead.
 */
public interface RequestPermit {
    /** The permit of a request without limits. */
    RequestPermit NONE =
            new RequestPermit() {
                @Override
                public void waitsForKeys(TenantName tenant) {}

                @Override
                public void isAdmitted(TenantName tenant) {}
            };

    /**
     * The request is about to wait for an issuer's keys.
     *
     * @param tenant that its token leads to, which isn't verified yet
     * @throws io.mintmark.base.verdict.Unavailable if too many requests wait already
     */
    void waitsForKeys(TenantName tenant);

    /**
     * The request's token is accepted. Called once.
     *
     * @throws io.mintmark.base.verdict.Unavailable if the tenant has too many requests in flight
     */
    void isAdmitted(TenantName tenant);
}
