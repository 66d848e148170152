package io.mintmark.provider;

import io.mintmark.base.outbound.Destinations;

import java.net.URI;
import java.util.Locale;

/**
 * A provider's address, parsed once, so that the address that is checked is the address that is
 * connected to. The host is in lower case and without a root dot, so that it can be compared;
 * {@code port} is -1 for the scheme's default.
 */
public record Endpoint(String scheme, String host, int port, String path) {

    /**
     * Takes a URL apart.
     *
     * @throws IllegalArgumentException if the text isn't an absolute http or https URL of host,
     *     port and path alone; the message is the end of a sentence about the text
     */
    public static Endpoint at(String url) {
        URI uri = Destinations.url(url);
        if (uri.getRawQuery() != null) {
            throw new IllegalArgumentException("must not have a query or a fragment");
        }
        return new Endpoint(
                lower(uri.getScheme()),
                withoutRoot(lower(uri.getHost())),
                uri.getPort(),
                uri.getRawPath());
    }

    /** Whether the endpoint is reached by TLS. */
    public boolean isEncrypted() {
        return scheme.equals("https");
    }

    /** Scheme, host and port as RFC 6454 section 6.2 writes them. */
    public String origin() {
        boolean usual = port < 0 || port == (isEncrypted() ? 443 : 80);
        return scheme + "://" + host + (usual ? "" : ":" + port);
    }

    /**
     * The address of something below this one, which is a base URL with or without a final slash.
     *
     * @param further begins with a slash
     */
    public String below(String further) {
        String base = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
        return origin() + base + further;
    }

    /** The address to connect to. */
    public URI uri() {
        return URI.create(origin() + path);
    }

    @Override
    public String toString() {
        return origin() + path;
    }

    private static String lower(String text) {
        return text.toLowerCase(Locale.ROOT);
    }

    private static String withoutRoot(String host) {
        return host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    }
}
