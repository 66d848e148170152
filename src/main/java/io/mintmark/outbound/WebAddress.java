package io.mintmark.outbound;

import io.mintmark.outbound.OutboundFailure.Kind;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.function.Predicate;

/**
 * A URL that the broker is ready to ask: https, or http to the machine that it runs on, or to a
 * host of a network that the operator vouches for.
 */
record WebAddress(URI uri) {

    /** The URL of a public document, if it is a usable one. */
    static WebAddress ofDocument(String text) throws OutboundFailure {
        return parse(text, _ -> false);
    }

    /**
     * The URL of a service that is shown secrets, if it is a usable one.
     *
     * @param allowed what the operator lists; hosts on it may be asked by http too
     */
    static WebAddress ofService(String text, Destinations allowed) throws OutboundFailure {
        return parse(text, allowed::listed);
    }

    private static WebAddress parse(String text, Predicate<String> trustedWithHttp)
            throws OutboundFailure {
        URI uri = uri(text);
        if (!uri.isAbsolute() || uri.getHost() == null) {
            throw unusable("a URL without scheme or host");
        }
        if (uri.getRawUserInfo() != null || uri.getRawFragment() != null) {
            throw unusable(uri.getHost() + ": a URL with a user or a fragment in it");
        }
        boolean secure = "https".equalsIgnoreCase(uri.getScheme());
        boolean plain = "http".equalsIgnoreCase(uri.getScheme());
        String host = uri.getHost();
        if (!secure && !(plain && (isLoopback(host) || trustedWithHttp.test(host)))) {
            throw unusable(host + ": only https is used, except to loopback hosts");
        }
        return new WebAddress(uri);
    }

    String host() {
        return uri.getHost();
    }

    private static URI uri(String text) throws OutboundFailure {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            throw new OutboundFailure(Kind.ADDRESS_UNUSABLE, "not a URL: " + e.getReason(), e);
        }
    }

    private static boolean isLoopback(String host) {
        String plain = Destinations.plain(host);
        return plain.equals("localhost")
                || (AddressRange.isLiteral(plain)
                        && AddressRange.literal(plain).isLoopbackAddress());
    }

    private static OutboundFailure unusable(String message) {
        return new OutboundFailure(Kind.ADDRESS_UNUSABLE, message);
    }
}
