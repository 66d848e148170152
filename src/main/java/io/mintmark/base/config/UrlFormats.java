package io.mintmark.base.config;

import java.net.URI;
import java.util.Locale;
import java.util.Set;

/** Addresses of the web, as settings name them. */
final class UrlFormats {
    private static final Set<String> SCHEMES = Set.of("http", "https");

    /** An address that the broker itself has towards others. */
    static final Format<URI> OWN =
            Format.hidden(
                    "an https URL such as https://broker.example.com, without a user name, query or fragment (http only on localhost)",
                    UrlFormats::own);

    /** An identity provider: it is compared as text, so its slash at the end stays. */
    static final Format<URI> ISSUER =
            Format.hidden(
                    "an https URL such as https://idp.example.com/realms/main, without a user name, query or fragment",
                    UrlFormats::absolute);

    /** The URL of a service's endpoint; RFC 6749 section 3.2 allows it a query. */
    static final Format<URI> ENDPOINT =
            Format.hidden(
                    "an https URL such as https://idp.example.com/token, without a user name or fragment",
                    UrlFormats::endpoint);

    /** An origin exactly as browsers send it, because it is compared as text. */
    static final Format<String> ORIGIN =
            Format.of(
                    "an origin as browsers send it, such as https://app.example.com: lower case, no path, no default port, and never *, because responses allow credentials",
                    UrlFormats::origin);

    private UrlFormats() {}

    private static URI own(String text) {
        URI uri = absolute(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
        // the broker never connects to it, and browsers resolve these names to this machine
        require(HttpUrl.isConfidential(uri) || uri.getHost().endsWith(".localhost"));
        return uri;
    }

    private static String origin(String text) {
        URI uri = absolute(text);
        require(text.equals(text.toLowerCase(Locale.ROOT)));
        require(uri.getRawPath().isEmpty());
        require(uri.getPort() != (uri.getScheme().equals("https") ? 443 : 80));
        return text;
    }

    private static URI absolute(String text) {
        URI uri = endpoint(text);
        require(uri.getRawQuery() == null);
        return uri;
    }

    private static URI endpoint(String text) {
        URI uri = HttpUrl.parse(text);
        require(SCHEMES.contains(uri.getScheme()));
        return uri;
    }

    private static void require(boolean rule) {
        if (!rule) {
            throw new IllegalArgumentException("not a URL of that form");
        }
    }
}
