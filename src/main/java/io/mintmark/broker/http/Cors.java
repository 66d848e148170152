package io.mintmark.broker.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.Status;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.http.request.StandingHeaders;

import java.util.Optional;
import java.util.Set;

/**
 * Lets the applications of configured origins call the broker from browsers (HTTP API section 4.6).
 * Error responses have the headers too, because applications could not read them otherwise.
 */
final class Cors implements Filter {
    private static final Header METHODS =
            HeaderValues.createCached(
                    HeaderNames.create("Access-Control-Allow-Methods"), "GET, POST, OPTIONS");

    /** The interface's value, and what a path of this broker has besides. */
    private static final Header METHODS_WITH_DELETE =
            HeaderValues.createCached(
                    HeaderNames.create("Access-Control-Allow-Methods"),
                    "GET, POST, DELETE, OPTIONS");

    private static final Header HEADERS =
            HeaderValues.createCached(
                    HeaderNames.create("Access-Control-Allow-Headers"),
                    "authorization, content-type, x-request-id");
    private static final Header MAX_AGE =
            HeaderValues.createCached(HeaderNames.create("Access-Control-Max-Age"), "86400");
    private static final Header CREDENTIALS =
            HeaderValues.createCached(
                    HeaderNames.create("Access-Control-Allow-Credentials"), "true");
    private static final Header EXPOSED =
            HeaderValues.createCached(
                    HeaderNames.create("Access-Control-Expose-Headers"),
                    "X-Request-ID, Retry-After, " + RateLimits.EXPOSED);
    private static final Header VARY = HeaderValues.createCached(HeaderNames.VARY, "Origin");

    private final Set<String> allowedOrigins;

    /**
     * A filter for these origins.
     *
     * @param allowedOrigins as browsers send them, compared exactly
     */
    Cors(Set<String> allowedOrigins) {
        this.allowedOrigins = Set.copyOf(allowedOrigins);
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        if (Protocol.of(request.path().path()).isForBrowsers()) {
            StandingHeaders.add(request, response, standing(request.headers()));
        }
        chain.proceed();
    }

    /** The headers of every response to a request with these headers. */
    Header[] standing(Headers request) {
        if (allowedOrigins.isEmpty()) {
            return new Header[] {};
        }
        return origin(request)
                .map(origin -> new Header[] {VARY, allowed(origin), CREDENTIALS, EXPOSED})
                .orElse(new Header[] {VARY});
    }

    /**
     * Answers a preflight of a path that there is.
     *
     * @param allowed the path's methods
     */
    void preflight(ServerRequest request, ServerResponse response, String allowed) {
        if (origin(request.headers()).isPresent()) {
            response.headers().remove(HeaderNames.create("Access-Control-Expose-Headers"));
            response.header(allowed.contains("DELETE") ? METHODS_WITH_DELETE : METHODS)
                    .header(HEADERS)
                    .header(MAX_AGE);
        }
        response.status(Status.NO_CONTENT_204).send();
    }

    private Optional<String> origin(Headers request) {
        return request.first(HeaderNames.ORIGIN).filter(allowedOrigins::contains);
    }

    private static Header allowed(String origin) {
        return HeaderValues.create(HeaderNames.create("Access-Control-Allow-Origin"), origin);
    }
}
