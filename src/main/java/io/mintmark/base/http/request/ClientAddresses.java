package io.mintmark.base.http.request;

import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import io.helidon.webserver.http.ServerRequest;
import io.mintmark.base.limit.ClientAddress;
import io.mintmark.base.limit.ForwardedFor;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Finds the client of a request: the peer, or the address that a trusted proxy names. */
public final class ClientAddresses {
    private final ForwardedFor forwarded;

    public ClientAddresses(ForwardedFor forwarded) {
        this.forwarded = forwarded;
    }

    public ClientAddress of(ServerRequest request) {
        return of(peer(request), request.headers());
    }

    /** The client of a request that this peer sent with these headers. */
    ClientAddress of(InetAddress peer, Headers headers) {
        return forwarded.of(peer, headers.values(HeaderNames.X_FORWARDED_FOR));
    }

    /** The other end of a request's connection. */
    static InetAddress peer(ServerRequest request) {
        if (request.remotePeer().address() instanceof InetSocketAddress peer) {
            return peer.getAddress();
        }
        throw new IllegalStateException("the request has no client address");
    }
}
