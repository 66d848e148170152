package io.mintmark.http;

import io.helidon.webserver.http.ServerRequest;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Finds out whose request it is. */
final class ClientAddresses {

    /** The address at the other end of the connection. */
    InetAddress of(ServerRequest request) {
        if (request.remotePeer().address() instanceof InetSocketAddress peer) {
            return peer.getAddress();
        }
        throw new IllegalStateException("a request that came over no network");
    }
}
