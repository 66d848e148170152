package io.mintmark.http;

import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

import java.time.Duration;
import java.util.Optional;

/**
 * One line for each request, without its path and query: those hold whatever the client likes, a
 * token among it. The request id and the tenant stand in the line as in every other.
 */
final class AccessLog implements Filter {
    private static final Logger log = LoggerFactory.getLogger(AccessLog.class);

    private final ClientAddresses addresses;

    AccessLog(ClientAddresses addresses) {
        this.addresses = addresses;
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        long began = System.nanoTime();
        try {
            chain.proceed();
        } finally {
            write(request, response, Duration.ofNanos(System.nanoTime() - began));
        }
    }

    private void write(RoutingRequest request, RoutingResponse response, Duration taken) {
        log.info(
                "{} {} -> {}, {} bytes in {} ms, from {}, subject {}",
                request.prologue().method().text(),
                MatchedRoute.of(request),
                response.status().code(),
                response.bytesWritten(),
                taken.toMillis(),
                addresses.of(request),
                Optional.ofNullable(MDC.get("subject"))
                        .map(subject -> Json.text(subject).toString())
                        .orElse("-"));
    }
}
