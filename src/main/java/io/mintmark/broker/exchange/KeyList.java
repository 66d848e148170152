package io.mintmark.broker.exchange;

import io.mintmark.audit.Event.Caller;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.broker.grant.Granted;
import io.mintmark.broker.token.PresentedToken;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;

/**
 * The keys that a subject could mint now.
 *
 * @param keys by name; at least one
 */
public record KeyList(String subject, IdpName idp, List<Granted> keys) {
    public KeyList {
        keys = List.copyOf(keys);
    }

    /**
     * A request for the list.
     *
     * @param requestId the correlation id that the answer carries
     * @param address the client's, not a trusted proxy's
     * @param userAgent as the client sent it
     * @param permit given back when the request's tenant is known and it has to wait
     */
    public record Request(
            String requestId,
            InetAddress address,
            Optional<String> userAgent,
            PresentedToken token,
            RequestPermit permit) {
        Caller caller() {
            return new Caller(requestId, address, userAgent);
        }
    }
}
