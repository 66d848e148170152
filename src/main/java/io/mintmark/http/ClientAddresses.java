package io.mintmark.http;

import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import io.mintmark.limit.ClientAddress;
import io.mintmark.limit.ForwardedFor;

import java.net.InetSocketAddress;

/** Finds out whose request it is: the peer's, or whose a trusted proxy says it is. */
public final class ClientAddresses {
    private final ForwardedFor forwarded;

    public ClientAddresses(ForwardedFor forwarded) {
        this.forwarded = forwarded;
    }

    /** The client that a request is from. */
    public ClientAddress of(ServerRequest request) {
        if (request.remotePeer().address() instanceof InetSocketAddress peer) {
            return forwarded.of(
                    peer.getAddress(), request.headers().values(HeaderNames.X_FORWARDED_FOR));
        }
        throw new IllegalStateException("a request that came over no network");
    }
}
