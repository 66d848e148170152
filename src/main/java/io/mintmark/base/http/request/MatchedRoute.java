package io.mintmark.base.http.request;

import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;

/**
 * The route that a request was matched with, for logs and metrics: unlike its path it is one of a
 * few.
 *
 * @param pattern for example {@code /credentials/mint}
 */
public record MatchedRoute(String pattern) {
    /** The route of requests that match no route. */
    static final String NONE = "none";

    /** Wraps a handler, and registers its route in the request's context. */
    public static Handler of(String pattern, Handler handler) {
        MatchedRoute route = new MatchedRoute(pattern);
        return (request, response) -> {
            request.context().register(route);
            handler.handle(request, response);
        };
    }

    public static String of(ServerRequest request) {
        return request.context().get(MatchedRoute.class).map(MatchedRoute::pattern).orElse(NONE);
    }
}
