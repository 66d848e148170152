package io.mintmark.base.http.request;

import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;

import org.slf4j.MDC;

import java.net.InetAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
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

    /**
     * A logger of the JDK, because SLF4J's bridge walks the stack for each line to find its caller.
     */
    private static final Logger log = Logger.getLogger(AccessLog.class.getName());

    private static final String ERROR = "error";
    private static final String REASON = "reason";

    private final ClientAddresses addresses;

    public AccessLog(ClientAddresses addresses) {
        this.addresses = addresses;
    }

    /**
     * Notes why this thread's request is refused.
     *
     * @param error the code of the answer, for example {@code UNAUTHORIZED}
     * @param reason a word for it, or a sentence
     */
    public static void note(String error, String reason) {
        MDC.put(ERROR, error);
        MDC.put(REASON, reason);
    }

    /**
     * Writes the line of a request that no filter has seen, because it is malformed for example.
     *
     * @param peer the other end of its connection, if it is known
     */
    public static void unrouted(
            Optional<InetAddress> peer, String requestId, int status, String error, String reason) {
        Map<String, String> context = MDC.getCopyOfContextMap();
        try {
            MDC.put(RequestIds.IN_LOG, requestId);
            note(error, reason);
            write(
                    "-",
                    MatchedRoute.NONE,
                    peer.map(InetAddress::getHostAddress).orElse("-"),
                    status,
                    0,
                    Duration.ZERO);
        } finally {
            if (context == null) {
                MDC.clear();
            } else {
                MDC.setContextMap(context);
            }
        }
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

    /** Writes the line. Its fields stay with the thread until the request's id is taken from it. */
    private void write(
            RoutingRequest request, RoutingResponse response, int status, Duration taken) {
        if (status == CLIENT_LEFT && MDC.get(ERROR) == null) {
            note("CLIENT_LEFT", "the client disconnected, or did not read its response in time");
        }
        write(
                request.prologue().method().text(),
                MatchedRoute.of(request),
                addresses.of(request).toString(),
                status,
                response.bytesWritten(),
                taken);
    }

    private static void write(
            String method, String route, String address, int status, long bytes, Duration taken) {
        MDC.put("address", address);
        MDC.put("method", method);
        MDC.put("route", route);
        MDC.put("status", Integer.toString(status));
        MDC.put("bytes", Long.toString(bytes));
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
