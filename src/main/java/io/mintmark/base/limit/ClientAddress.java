package io.mintmark.base.limit;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * The address that a client calls from, without zone. IPv4 addresses in IPv6 form are IPv4
 * addresses; the JDK sees to that.
 */
public record ClientAddress(InetAddress address) {
    public ClientAddress {
        address = withoutZone(address);
    }

    /** The network that the request counts for. */
    public Network network() {
        return Network.of(address);
    }

    @Override
    public String toString() {
        return address.getHostAddress();
    }

    private static InetAddress withoutZone(InetAddress address) {
        try {
            return InetAddress.getByAddress(address.getAddress());
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an IP address must have 4 or 16 bytes", e);
        }
    }
}
