package io.mintmark.base.outbound;

import java.net.UnknownHostException;

/**
 * A host is on addresses that the broker may not connect to. It is an {@link UnknownHostException}
 * because that is what HTTP clients let a {@link org.apache.hc.client5.http.DnsResolver} throw.
 */
public final class RefusedDestination extends UnknownHostException {
    private static final long serialVersionUID = 1L;

    RefusedDestination(String message) {
        super(message);
    }
}
