package io.mintmark.base.limit;

import java.net.InetAddress;
import java.nio.ByteBuffer;

/**
 * Addresses that count as one client: an IPv4 address, or a /64 of IPv6, which is the least that a
 * single customer gets. Kept small, as there may be many.
 */
public record Network(boolean isIpv6, long prefix) {
    public static Network of(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        boolean isIpv6 = bytes.remaining() > Integer.BYTES;
        return new Network(isIpv6, isIpv6 ? bytes.getLong() : bytes.getInt());
    }
}
