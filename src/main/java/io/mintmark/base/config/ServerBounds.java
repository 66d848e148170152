package io.mintmark.base.config;

import java.time.Duration;
import java.util.List;

/**
 * The bounds on slow and greedy clients. The time-outs count only while the server waits for its
 * client, never while it works.
 *
 * @param headerTimeout from a request's first byte to the end of its headers
 * @param bodyTimeout from there to the end of its body
 * @param answerTimeout for a client to take its answer
 * @param idleTimeout from there, or from connecting, to the next request's first byte
 * @param maxConnections at a time; when nearly all are taken, those end that wait longest for their
 *     clients
 * @param maxRequests at a time, mints only until their tenant is known; the same, and what is still
 *     too much is answered 503
 */
public record ServerBounds(
        Duration headerTimeout,
        Duration bodyTimeout,
        Duration answerTimeout,
        Duration idleTimeout,
        int maxConnections,
        int maxRequests) {
    private static final Format<Duration> TIMEOUT =
            Formats.duration(Duration.ofSeconds(1), Duration.ofMinutes(10));
    private static final Format<Integer> COUNT = Formats.wholeNumber(16, 100_000);

    static final Setting<Duration> HEADER_TIMEOUT =
            Setting.of(
                    "server.header-timeout",
                    TIMEOUT,
                    "PT10S",
                    "Time within which a client must send the request line and the headers.");
    static final Setting<Duration> BODY_TIMEOUT =
            Setting.of(
                    "server.body-timeout",
                    TIMEOUT,
                    "PT10S",
                    "Time within which a client must send the body of a request.");
    static final Setting<Duration> ANSWER_TIMEOUT =
            Setting.of(
                    "server.answer-timeout",
                    TIMEOUT,
                    "PT10S",
                    "Time within which a client must receive a response.");
    static final Setting<Duration> IDLE_TIMEOUT =
            Setting.of(
                    "server.idle-timeout",
                    TIMEOUT,
                    "PT1M",
                    "Time after which the broker closes an idle connection.");
    static final Setting<Integer> MAX_CONNECTIONS =
            Setting.of(
                    "server.max-connections",
                    COUNT,
                    "2048",
                    "Maximum number of open connections. Near this number, the broker closes"
                            + " idle connections at once, and other connections after their next"
                            + " response. Keep the number far below the limit of open files.");
    static final Setting<Integer> MAX_REQUESTS =
            Setting.of(
                    "server.max-requests",
                    COUNT,
                    "512",
                    "Maximum number of requests in flight. A mint request counts until its"
                            + " tenant is known. Further requests wait 1 s, then get 503.");

    static final List<Setting<?>> TABLE =
            List.of(
                    HEADER_TIMEOUT,
                    BODY_TIMEOUT,
                    ANSWER_TIMEOUT,
                    IDLE_TIMEOUT,
                    MAX_CONNECTIONS,
                    MAX_REQUESTS);

    /** Keeps the time-outs, with other numbers of clients. */
    public ServerBounds withCounts(int connections, int requests) {
        return new ServerBounds(
                headerTimeout, bodyTimeout, answerTimeout, idleTimeout, connections, requests);
    }

    static ServerBounds from(Values values) {
        return new ServerBounds(
                values.get(HEADER_TIMEOUT),
                values.get(BODY_TIMEOUT),
                values.get(ANSWER_TIMEOUT),
                values.get(IDLE_TIMEOUT),
                values.get(MAX_CONNECTIONS),
                values.get(MAX_REQUESTS));
    }
}
