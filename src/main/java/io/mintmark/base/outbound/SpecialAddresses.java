package io.mintmark.base.outbound;

import io.mintmark.base.config.Cidr;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Which addresses are not on the public internet: the IANA special-purpose registries for IPv4 and
 * IPv6 (RFC 6890), multicast, and the addresses under which clouds serve metadata.
 */
final class SpecialAddresses {
    private static final Cidr GLOBAL_UNICAST = Cidr.parse("2000::/3");

    /** {@code ::ffff:0:0/96}, as bytes: Java reads the text as an IPv4 address. */
    private static final Cidr MAPPED =
            new Cidr(v6(HexFormat.of().parseHex("00000000000000000000ffff00000000")), 96);

    private static final Cidr NAT64 = Cidr.parse("64:ff9b::/96");
    private static final int V4_BYTES = 4;

    private static final Map<Cidr, String> KINDS = kinds();

    private SpecialAddresses() {}

    /**
     * The kind of a special address, in words that follow "an address that is"; empty if the
     * address is public.
     */
    static Optional<String> kind(InetAddress address) {
        InetAddress judged = carried(address);
        Optional<String> kind =
                KINDS.entrySet().stream()
                        .filter(entry -> entry.getKey().contains(judged))
                        .map(Map.Entry::getValue)
                        .findFirst();
        boolean v6 = judged.getAddress().length > V4_BYTES;
        return v6 && kind.isEmpty() && !GLOBAL_UNICAST.contains(judged)
                ? Optional.of("not public")
                : kind;
    }

    /**
     * The IPv4 address that an IPv6 address leads to: mapped addresses and NAT64 (RFC 6052). Other
     * tunnels are rejected.
     */
    static InetAddress carried(InetAddress address) {
        if (!MAPPED.contains(address) && !NAT64.contains(address)) {
            return address;
        }
        byte[] bytes = address.getAddress();
        return v4(Arrays.copyOfRange(bytes, bytes.length - V4_BYTES, bytes.length));
    }

    private static InetAddress v4(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an IP address of 4 bytes can't be parsed", e);
        }
    }

    private static InetAddress v6(byte[] bytes) {
        try {
            return Inet6Address.getByAddress(null, bytes, -1);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an IP address of 16 bytes can't be parsed", e);
        }
    }

    private static Map<Cidr, String> kinds() {
        Map<Cidr, String> kinds = new LinkedHashMap<>();
        put(kinds, "unspecified", "0.0.0.0/8", "::/128");
        put(kinds, "loopback", "127.0.0.0/8", "::1/128");
        put(kinds, "for metadata", "169.254.169.254", "168.63.129.16", "fd00:ec2::254");
        put(kinds, "for metadata", "100.100.100.200", "192.0.0.192");
        put(kinds, "link-local", "169.254.0.0/16", "fe80::/10");
        put(kinds, "private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16");
        put(kinds, "private", "fc00::/7", "fec0::/10");
        put(kinds, "shared between networks", "100.64.0.0/10");
        put(kinds, "multicast", "224.0.0.0/4", "ff00::/8");
        put(kinds, "reserved", "192.0.0.0/24", "192.88.99.0/24", "240.0.0.0/4", "2001::/23");
        put(kinds, "for benchmarks", "198.18.0.0/15");
        put(kinds, "for documentation", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24");
        put(kinds, "for documentation", "2001:db8::/32", "3fff::/20");
        put(kinds, "the end of a tunnel", "2002::/16", "::/96", "64:ff9b:1::/48");
        return kinds;
    }

    private static void put(Map<Cidr, String> kinds, String kind, String... ranges) {
        for (String range : ranges) {
            kinds.put(Cidr.parse(range), kind);
        }
    }
}
