package io.mintmark.base.http.request;

import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;

import org.slf4j.MDC;

import java.time.Duration;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * One line for each request, without its path and query, which could contain a token. Request id,
 * tenant and subject are in the line as in every other; its other values are also separate fields.
 */
public final class AccessLog implements Filter {
    /**
     * The status of requests that got no response, since their client left or took too long. The
     * code is nginx's.
     */
    public static final int CLIENT_LEFT = 499;

    /** Not SLF4J's, which walks the stack at each line to learn who logs. */
    private static final Logger log = Logger.getLogger(AccessLog.class.getName());

    private final ClientAddresses addresses;

    public AccessLog(ClientAddresses addresses) {
        this.addresses = addresses;
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        long began = System.nanoTime();
        int status = CLIENT_LEFT;
        try {
            chain.proceed();
            status = response.status().code();
        } finally {
            write(request, response, status, Duration.ofNanos(System.nanoTime() - began));
        }
    }

    /** The fields stay with the thread until the request's id is taken from it. */
    private void write(
            RoutingRequest request, RoutingResponse response, int status, Duration taken) {
        String method = request.prologue().method().text();
        String route = MatchedRoute.of(request);
        String address = addresses.of(request).toString();
        MDC.put("address", address);
        MDC.put("method", method);
        MDC.put("route", route);
        MDC.put("status", Integer.toString(status));
        MDC.put("bytes", Long.toString(response.bytesWritten()));
        MDC.put("milliseconds", Long.toString(taken.toMillis()));
        log.logp(
                Level.INFO,
                null,
                null,
                () ->
                        method
                                + " "
                                + route
                                + " -> "
                                + status
                                + " in "
                                + taken.toMillis()
                                + " ms, from "
                                + address);
    }
}
