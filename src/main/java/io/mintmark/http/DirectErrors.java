package io.mintmark.http;

import io.helidon.http.DirectHandler;
import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.mintmark.http.connection.GuardedPort;

import org.slf4j.MDC;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;

/**
 * Answers what never gets as far as a route, because it isn't HTTP as it should be or because there
 * is too much of it. All texts are fixed: the server's own quote the request.
 */
final class DirectErrors implements DirectHandler {
    private static final Duration SOON = Duration.ofSeconds(1);

    private final InstantSource clock;
    private final Cors cors;

    DirectErrors(Cors cors, InstantSource clock) {
        this.cors = cors;
        this.clock = clock;
    }

    @Override
    public TransportResponse handle(
            TransportRequest told,
            EventType event,
            Status status,
            ServerResponseHeaders headers,
            String message) {
        TransportRequest request = known(told);
        Protocol protocol = Protocol.of(request.path().split("\\?", 2)[0]);
        ErrorAnswer error = protocol.tell(error(status.code()));
        String requestId = requestId(request);
        headers.set(Answers.JSON).set(Answers.NOT_SNIFFED).set(Answers.NOT_STORED);
        headers.set(HeaderValues.create(RequestIds.HEADER, requestId));
        if (protocol.isForBrowsers()) {
            for (Header header : cors.standing(request.headers())) {
                headers.set(header);
            }
        }
        error.retryAfterSeconds()
                .ifPresent(wait -> headers.set(HeaderValues.create(HeaderNames.RETRY_AFTER, wait)));
        return TransportResponse.builder()
                .status(Status.create(error.status()))
                .headers(headers)
                .keepAlive(event.keepAlive())
                .entity(Json.write(error.json(requestId, clock.instant())))
                .build();
    }

    /**
     * What the connection knows of the request, where the server doesn't say what it was: its path
     * decides in which protocol's words it is answered.
     */
    private static TransportRequest known(TransportRequest told) {
        return Optional.of(told)
                .filter(request -> !request.path().isEmpty())
                .or(GuardedPort::currentRequest)
                .orElse(told);
    }

    /** The one that the log has for this thread, if the request got so far. */
    private static String requestId(TransportRequest request) {
        return Optional.ofNullable(MDC.get(RequestIds.IN_LOG))
                .orElseGet(() -> RequestIds.chosen(request.headers()));
    }

    /** The body for a status that the server itself chose. */
    static ErrorBody error(int status) {
        return switch (status) {
            case 404 -> ErrorBody.of(404, "NOT_FOUND", Routes.NO_SUCH_PATH);
            case 411 ->
                    ErrorBody.invalidRequest(
                            411,
                            "A body needs a Content-Length; Transfer-Encoding is not accepted.");
            case 413 -> ErrorBody.invalidRequest(413, "The body is longer than 64 KiB.");
            case 414 -> ErrorBody.invalidRequest(414, "The request's first line is too long.");
            case 503 -> busy();
            default -> status < 500 ? malformed(status) : ErrorBody.internalError();
        };
    }

    private static ErrorBody malformed(int status) {
        return ErrorBody.invalidRequest(
                status,
                "The request is HTTP/1.0 or not well-formed HTTP/1.1, it leaves open where"
                        + " it ends, its body is encoded, or its headers are too long.");
    }

    private static ErrorBody busy() {
        return new ErrorBody(
                503,
                "SERVICE_UNAVAILABLE",
                "The broker has more requests than it can work on; try again in a second.",
                Json.object(),
                Optional.of(SOON));
    }
}
