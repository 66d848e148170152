package io.mintmark.outbound;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.regex.Pattern;

/** A block of addresses, {@code 10.0.0.0/8} or {@code fc00::/7}; without a length one address. */
final class AddressRange {
    private static final Pattern V4 =
            Pattern.compile("(0|[1-9][0-9]{0,2})(\\.(0|[1-9][0-9]{0,2})){3}");
    private static final Pattern V6 = Pattern.compile("[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*");
    private static final Pattern LENGTH = Pattern.compile("0|[1-9][0-9]{0,2}");

    private final byte[] network;
    private final int length;

    AddressRange(byte[] network, int length) {
        this.network = network;
        this.length = length;
    }

    /**
     * Reads an address or a block.
     *
     * @throws IllegalArgumentException if it is neither, or if bits behind the length are set
     */
    static AddressRange parse(String text) {
        int slash = text.indexOf('/');
        byte[] network = literal(slash < 0 ? text : text.substring(0, slash)).getAddress();
        int bits = network.length * Byte.SIZE;
        int length = slash < 0 ? bits : length(text.substring(slash + 1), bits);
        for (int bit = length; bit < bits; bit++) {
            if (isSet(network, bit)) {
                throw new IllegalArgumentException("bits behind the length are set");
            }
        }
        return new AddressRange(network, length);
    }

    /** Whether a host is written as an address in its usual form: {@code 10.0.0.1}, {@code ::1}. */
    static boolean isLiteral(String host) {
        return V4.matcher(host).matches() || V6.matcher(host).matches();
    }

    /**
     * The address that a literal stands for, without asking anybody.
     *
     * @throws IllegalArgumentException if it isn't one
     */
    static InetAddress literal(String host) {
        if (V4.matcher(host).matches()) {
            return Inet4Address.ofLiteral(host);
        }
        if (V6.matcher(host).matches()) {
            return Inet6Address.ofLiteral(host);
        }
        throw new IllegalArgumentException("not an address");
    }

    boolean contains(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (bytes.length != network.length) {
            return false;
        }
        for (int bit = 0; bit < length; bit++) {
            if (isSet(bytes, bit) != isSet(network, bit)) {
                return false;
            }
        }
        return true;
    }

    private static int length(String text, int most) {
        if (!LENGTH.matcher(text).matches() || Integer.parseInt(text) > most) {
            throw new IllegalArgumentException("not a length from 0 to " + most);
        }
        return Integer.parseInt(text);
    }

    private static boolean isSet(byte[] bytes, int bit) {
        return (bytes[bit / Byte.SIZE] & (0x80 >> (bit % Byte.SIZE))) != 0;
    }
}
