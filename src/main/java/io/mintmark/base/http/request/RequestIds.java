package io.mintmark.base.http.request;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;

import org.slf4j.MDC;

import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;

/**
 * Gives every request a correlation id: the caller's, if it is harmless, else a new one. It is in
 * the response, in every line of the log, and in the audit log.
 */
public final class RequestIds implements Filter {
    /** The header of requests and responses. */
    public static final HeaderName HEADER = HeaderNames.create("X-Request-ID");

    private static final Pattern HARMLESS = Pattern.compile("[A-Za-z0-9._-]{1,128}");

    /** The name of the field in the log. */
    public static final String IN_LOG = "requestId";

    private record RequestId(String value) {}

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        String id = of(request);
        StandingHeaders.add(request, response, HeaderValues.create(HEADER, id));
        MDC.put(IN_LOG, id);
        try {
            chain.proceed();
        } finally {
            MDC.clear();
        }
    }

    /** The id of the request that this thread works on; empty where no filter has seen it. */
    public static Optional<String> current() {
        return Optional.ofNullable(MDC.get(IN_LOG));
    }

    /** The request's id, which stays the same. */
    public static String of(ServerRequest request) {
        return request.context()
                .get(RequestId.class)
                .orElseGet(() -> {
                    RequestId id = new RequestId(chosen(request.headers()));
                    request.context().register(id);
                    return id;
                })
                .value();
    }

    /** The caller's id if it is harmless, else a new one. */
    public static String chosen(Headers headers) {
        return headers.first(HEADER)
                .filter(given -> HARMLESS.matcher(given).matches())
                .orElseGet(() -> unique().toString());
    }

    /**
     * A random UUID (RFC 9562 section 5.4). It isn't a secret, so it doesn't come from the system's
     * secure source, whose one lock all requests would take.
     */
    private static UUID unique() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return new UUID(
                (random.nextLong() & ~0xF000L) | 0x4000L,
                (random.nextLong() >>> 2) | 0x8000_0000_0000_0000L);
    }
}
