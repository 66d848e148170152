package io.mintmark.limit;

import java.nio.ByteBuffer;

/**
 * Addresses that count as one client: an IPv4 address, or a /64 of IPv6, which is the least that a
 * single customer gets. Kept small, as there may be many.
 */
record Network(boolean isIpv6, long prefix) {
    static Network of(byte[] address) {
        ByteBuffer bytes = ByteBuffer.wrap(address);
        boolean isIpv6 = address.length > Integer.BYTES;
        return new Network(isIpv6, isIpv6 ? bytes.getLong() : bytes.getInt());
    }
}
