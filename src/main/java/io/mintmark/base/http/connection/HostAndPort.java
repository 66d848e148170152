package io.mintmark.base.http.connection;

import io.mintmark.base.config.Cidr;

import java.net.InetAddress;

/**
 * A host with an optional port, as {@code Host} and absolute request targets name it (RFC 9110
 * section 7.2, RFC 3986 section 3.2), without user information.
 */
final class HostAndPort {
    /** The longest name of DNS, and a port. */
    private static final int LONGEST = 255 + ":65535".length();

    private static final int LONGEST_PORT = 5;
    private static final int HIGHEST_PORT = 65_535;

    private HostAndPort() {}

    static boolean isValid(String text) {
        if (text.length() > LONGEST) {
            return false;
        }
        int end = text.startsWith("[") ? text.indexOf(']') + 1 : endOfName(text);
        return isHost(text.substring(0, end)) && isPort(text.substring(end));
    }

    private static int endOfName(String text) {
        int colon = text.indexOf(':');
        return colon < 0 ? text.length() : colon;
    }

    private static boolean isHost(String host) {
        if (host.startsWith("[")) {
            return isIpv6(host.substring(1, host.length() - 1));
        }
        return !host.isEmpty() && UriCharacters.isName(host);
    }

    private static boolean isIpv6(String text) {
        if (text.indexOf(':') < 0 || !Cidr.isAddress(text)) {
            return false;
        }
        try {
            return InetAddress.ofLiteral(text).getAddress().length > 0;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static boolean isPort(String text) {
        if (text.isEmpty()) {
            return true;
        }
        String digits = text.substring(1);
        return text.charAt(0) == ':'
                && !digits.isEmpty()
                && digits.length() <= LONGEST_PORT
                && digits.chars().allMatch(c -> c >= '0' && c <= '9')
                && Integer.parseInt(digits) <= HIGHEST_PORT;
    }
}
