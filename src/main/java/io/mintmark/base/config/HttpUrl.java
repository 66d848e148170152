package io.mintmark.base.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/** Decides what a URL of http or https is, and finds its host: for settings, rows and requests. */
public final class HttpUrl {
    private HttpUrl() {}

    /**
     * Reads an absolute URL without user and fragment.
     *
     * @throws IllegalArgumentException if the text is anything else; the message is the end of a
     *     sentence about the text
     */
    public static URI parse(String text) {
        URI uri = uri(text);
        if (!"https".equalsIgnoreCase(uri.getScheme())
                && !"http".equalsIgnoreCase(uri.getScheme())) {
            throw new IllegalArgumentException("must begin with https:// or http://");
        }
        if (uri.getRawUserInfo() != null) {
            throw new IllegalArgumentException("must not have a user name before its host");
        }
        if (uri.getHost() == null || uri.getPort() > 65_535 || uri.getPort() == 0) {
            throw new IllegalArgumentException("has no valid host and port");
        }
        if (uri.getRawFragment() != null) {
            throw new IllegalArgumentException("must not have a query or a fragment");
        }
        return uri;
    }

    /** Whether a request to this URL stays on the local machine or can't be read on the way. */
    public static boolean isConfidential(URI uri) {
        return "https".equalsIgnoreCase(uri.getScheme()) || isLoopback(uri.getHost());
    }

    /**
     * Whether a URL's host is certainly this machine: a loopback address, or {@code localhost},
     * which every resolver knows (RFC 6761 section 6.3).
     */
    public static boolean isLoopback(String host) {
        String plain = plain(host);
        return plain.equals("localhost")
                || (Cidr.isAddress(plain) && Cidr.address(plain).isLoopbackAddress());
    }

    /** The form in which hosts are compared: small letters, without brackets and final dot. */
    public static String plain(String host) {
        String inner =
                host.startsWith("[") && host.endsWith("]")
                        ? host.substring(1, host.length() - 1)
                        : host;
        String rooted = inner.endsWith(".") ? inner.substring(0, inner.length() - 1) : inner;
        return rooted.toLowerCase(Locale.ROOT);
    }

    private static URI uri(String text) {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("isn't a URL", e);
        }
    }
}
