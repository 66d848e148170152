package io.mintmark.base.outbound;

import io.mintmark.base.config.HttpUrl;
import io.mintmark.base.outbound.OutboundFailure.Kind;

import java.net.URI;
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
        URI uri = parse(text);
        String host = uri.getHost();
        if (!HttpUrl.isConfidential(uri) && !trustedWithHttp.test(host)) {
            throw unusable(host + ": plain http is allowed only to loopback hosts; use https");
        }
        return new WebAddress(uri);
    }

    String host() {
        return uri.getHost();
    }

    private static URI parse(String text) throws OutboundFailure {
        try {
            return HttpUrl.parse(text);
        } catch (IllegalArgumentException e) {
            throw unusable("the URL " + e.getMessage());
        }
    }

    private static OutboundFailure unusable(String message) {
        return new OutboundFailure(Kind.ADDRESS_UNUSABLE, message);
    }
}
