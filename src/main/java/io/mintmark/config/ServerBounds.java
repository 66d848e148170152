package io.mintmark.config;

import java.time.Duration;
import java.util.List;

/**
 * What slow and greedy clients can take from the server.
 *
 * @param headerTimeout from a request's first byte to the end of its headers
 * @param requestTimeout from there to the last byte of the answer
 * @param idleTimeout between an answer and the next request
 * @param maxConnections at a time, on the public port
 * @param maxRequests worked on at a time; the next ones are answered 503
 */
public record ServerBounds(
        Duration headerTimeout,
        Duration requestTimeout,
        Duration idleTimeout,
        int maxConnections,
        int maxRequests) {
    private static final Form<Duration> PATIENCE =
            Forms.duration(Duration.ofSeconds(1), Duration.ofMinutes(10));
    private static final Form<Integer> COUNT = Forms.wholeNumber(1, 100_000);

    static final Setting<Duration> HEADER_TIMEOUT =
            Setting.of(
                    "server.header-timeout",
                    PATIENCE,
                    "PT10S",
                    "How long a client may take over a request's line and headers.");
    static final Setting<Duration> REQUEST_TIMEOUT =
            Setting.of(
                    "server.request-timeout",
                    PATIENCE,
                    "PT1M",
                    "How long a request may take from its headers to the last byte of its answer.");
    static final Setting<Duration> IDLE_TIMEOUT =
            Setting.of(
                    "server.idle-timeout",
                    PATIENCE,
                    "PT1M",
                    "How long a connection may wait for its next request.");
    static final Setting<Integer> MAX_CONNECTIONS =
            Setting.of(
                    "server.max-connections",
                    COUNT,
                    "4096",
                    "How many connections may be open at a time. Keep it well under the limit of"
                            + " open files.");
    static final Setting<Integer> MAX_REQUESTS =
            Setting.of(
                    "server.max-requests",
                    COUNT,
                    "1024",
                    "How many requests are worked on at a time; the next ones get 503.");

    static final List<Setting<?>> TABLE =
            List.of(HEADER_TIMEOUT, REQUEST_TIMEOUT, IDLE_TIMEOUT, MAX_CONNECTIONS, MAX_REQUESTS);

    static ServerBounds from(Values values) {
        return new ServerBounds(
                values.get(HEADER_TIMEOUT),
                values.get(REQUEST_TIMEOUT),
                values.get(IDLE_TIMEOUT),
                values.get(MAX_CONNECTIONS),
                values.get(MAX_REQUESTS));
    }
}
