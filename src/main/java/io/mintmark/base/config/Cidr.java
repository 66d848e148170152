package io.mintmark.base.config;

import java.net.InetAddress;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A network of IP addresses, {@code 10.0.0.0/8} or {@code 2001:db8::/32}; a bare address is a
 * network of one. IPv4 addresses in IPv6 form ({@code ::ffff:10.0.0.1}) are treated as IPv4. Never
 * queries DNS.
 *
 * @param address the network's first address: bits after the prefix are zero
 * @param prefix how many leading bits belong to the network
 */
public record Cidr(InetAddress address, int prefix) {
    /** The JDK also accepts {@code 10.1} and {@code 010.0.0.1}, which are likely mistakes. */
    private static final Pattern IPV4 =
            Pattern.compile("(0|[1-9][0-9]{0,2})(\\.(0|[1-9][0-9]{0,2})){3}");

    /**
     * The maximum length of an IPv6 address, in characters. The longest form ends with an IPv4
     * address.
     */
    private static final int LONGEST_IPV6 = 45;

    private static final Pattern PREFIX = Pattern.compile("0|[1-9][0-9]{0,2}");

    public Cidr {
        byte[] bytes = address.getAddress();
        if (prefix < 0 || prefix > bytes.length * Byte.SIZE) {
            throw new IllegalArgumentException(
                    "%s can't have a prefix of %d bits"
                            .formatted(address.getHostAddress(), prefix));
        }
        if (!sameBits(bytes, new byte[bytes.length], prefix, bytes.length * Byte.SIZE)) {
            throw new IllegalArgumentException(
                    "%s/%d names a host, not a network"
                            .formatted(address.getHostAddress(), prefix));
        }
    }

    /**
     * Reads an address, a slash and a decimal prefix, or a bare address.
     *
     * @throws IllegalArgumentException if the text is anything else, a name for example, or has
     *     bits set after the prefix
     */
    public static Cidr parse(String text) {
        int slash = text.indexOf('/');
        if (slash < 0) {
            InetAddress address = address(text);
            return new Cidr(address, address.getAddress().length * Byte.SIZE);
        }
        return new Cidr(address(text.substring(0, slash)), prefix(text.substring(slash + 1)));
    }

    /**
     * Reads an IP address in its usual form, without zone and brackets.
     *
     * @throws IllegalArgumentException if the text is anything else
     */
    public static InetAddress address(String text) {
        if (!isAddress(text)) {
            throw new IllegalArgumentException("not an IP address");
        }
        return InetAddress.ofLiteral(text);
    }

    /** Whether a text is written as an IP address in its usual form; it may still be none. */
    public static boolean isAddress(String text) {
        return IPV4.matcher(text).matches() || isIpv6(text);
    }

    private static boolean isIpv6(String text) {
        return text.length() <= LONGEST_IPV6
                && text.indexOf(':') >= 0
                && text.chars().allMatch(c -> "0123456789ABCDEFabcdef:.".indexOf(c) >= 0);
    }

    /** Whether an address is one of this network's. */
    public boolean contains(InetAddress other) {
        byte[] mine = address.getAddress();
        byte[] theirs = other.getAddress();
        return mine.length == theirs.length && sameBits(mine, theirs, 0, prefix);
    }

    @Override
    public String toString() {
        return address.getHostAddress().toLowerCase(Locale.ROOT) + "/" + prefix;
    }

    private static int prefix(String text) {
        if (!PREFIX.matcher(text).matches()) {
            throw new IllegalArgumentException("not a prefix length");
        }
        return Integer.parseInt(text);
    }

    private static boolean sameBits(byte[] one, byte[] other, int from, int to) {
        for (int i = from; i < to; i++) {
            if (bit(one, i) != bit(other, i)) {
                return false;
            }
        }
        return true;
    }

    private static int bit(byte[] bytes, int index) {
        return bytes[index / Byte.SIZE] >> (Byte.SIZE - 1 - index % Byte.SIZE) & 1;
    }
}
