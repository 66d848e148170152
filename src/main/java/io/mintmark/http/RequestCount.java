package io.mintmark.http;

import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;

import java.time.Duration;

/** Reports the response to every request that reaches the routes. */
final class RequestCount implements Filter {
    private final RequestListener listener;

    RequestCount(RequestListener listener) {
        this.listener = listener;
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        long began = System.nanoTime();
        try {
            chain.proceed();
        } finally {
            listener.answered(
                    MatchedRoute.of(request),
                    response.status().code(),
                    Duration.ofNanos(System.nanoTime() - began));
        }
    }
}
