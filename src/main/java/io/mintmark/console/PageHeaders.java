package io.mintmark.console;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.mintmark.base.http.request.StandingHeaders;

import java.util.List;
import java.util.stream.Stream;

/**
 * The headers of every response. They tell the browser to run no script, load nothing from other
 * sites, show the page in no frame, keep no copy of it, and send no referrer.
 */
final class PageHeaders implements Filter {
    static final List<Header> ALL =
            List.of(
                    HeaderValues.create(
                            "Content-Security-Policy",
                            "default-src 'none'; style-src 'self'; img-src 'self' data:;"
                                    + " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"),
                    HeaderValues.create("X-Content-Type-Options", "nosniff"),
                    HeaderValues.create("X-Frame-Options", "DENY"),
                    HeaderValues.create("Referrer-Policy", "no-referrer"),
                    HeaderValues.create("Cross-Origin-Opener-Policy", "same-origin"),
                    HeaderValues.create("Cross-Origin-Resource-Policy", "same-origin"),
                    HeaderValues.create("Permissions-Policy", "interest-cohort=()"),
                    HeaderValues.create(HeaderNames.CACHE_CONTROL, "no-store"));

    private static final Header ONLY_TLS =
            HeaderValues.create("Strict-Transport-Security", "max-age=31536000");

    private final Header[] headers;

    /**
     * @param secure whether browsers come by https
     */
    PageHeaders(boolean secure) {
        this.headers =
                secure
                        ? Stream.concat(ALL.stream(), Stream.of(ONLY_TLS)).toArray(Header[]::new)
                        : ALL.toArray(Header[]::new);
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        StandingHeaders.add(request, response, headers);
        chain.proceed();
    }
}
