package io.mintmark.broker.http;

import io.helidon.http.DirectHandler;
import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.mintmark.base.http.connection.BadFraming;
import io.mintmark.base.http.connection.GuardedPort;
import io.mintmark.base.http.request.AccessLog;
import io.mintmark.base.http.request.AddressLimits;
import io.mintmark.base.http.request.RequestIds;
import io.mintmark.base.limit.RateDecision;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Answers what never gets as far as a route, because it isn't HTTP as it should be or because there
 * is too much of it. All texts are fixed: the server's own quote the request.
 */
final class DirectErrors implements DirectHandler {
    private static final Duration SOON = Duration.ofSeconds(1);
    private static final int FAILURE = 500;

    private final InstantSource clock;
    private final Cors cors;
    private final Optional<AddressLimits> limits;
    private final String unknownPath;
    private final ErrorPage page;

    /**
     * @param limits against which requests count that no filter has seen; empty if none applies
     * @param unknownPath the sentence for a path that the port doesn't have
     * @param page to which errors link
     */
    DirectErrors(
            Cors cors,
            Optional<AddressLimits> limits,
            String unknownPath,
            ErrorPage page,
            InstantSource clock) {
        this.cors = cors;
        this.limits = limits;
        this.unknownPath = unknownPath;
        this.page = page;
        this.clock = clock;
    }

    @Override
    public TransportResponse handle(
            TransportRequest received,
            EventType event,
            Status status,
            ServerResponseHeaders headers,
            @Nullable String message) {
        TransportRequest request = known(received);
        Protocol protocol = Protocol.of(request.path().split("\\?", 2)[0]);
        Optional<RateDecision> decision =
                limits.flatMap(it -> it.countUnrouted(request.headers(), status));
        ErrorBody body =
                decision.filter(known -> !known.allowed())
                        .map(RateLimits::refusal)
                        .orElseGet(() -> error(status.code(), message));
        ErrorAnswer error = protocol.answer(body);
        boolean isUnrouted = RequestIds.current().isEmpty();
        String requestId = requestId(request, error);
        if (isUnrouted) {
            AccessLog.unrouted(
                    GuardedPort.currentPeer(),
                    requestId,
                    error.status(),
                    body.code(),
                    body.message());
        }
        decision.map(RateLimits::headers).stream().flatMap(Stream::of).forEach(headers::set);
        Content content = error.content(requestId, clock.instant(), page);
        headers.set(content.type()).set(Answers.NOT_SNIFFED).set(Answers.NOT_STORED);
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
                .entity(content.bytes())
                .build();
    }

    /**
     * What the connection knows of the request, if the server doesn't provide it: the path decides
     * on the format of the error.
     */
    private static TransportRequest known(TransportRequest received) {
        return Optional.of(received)
                .filter(request -> !request.path().isEmpty())
                .or(GuardedPort::currentRequest)
                .orElse(received);
    }

    /**
     * The log's id for this thread, if the request got so far. Otherwise the id is set here,
     * because the server next logs the failure on this thread and then closes the connection.
     */
    private static String requestId(TransportRequest request, ErrorAnswer error) {
        Optional<String> known = RequestIds.current();
        String id = known.orElseGet(() -> RequestIds.chosen(request.headers()));
        if (known.isEmpty() && error.status() == FAILURE) {
            MDC.put(RequestIds.IN_LOG, id);
        }
        return id;
    }

    /** The body for a status that the server itself chose. */
    private ErrorBody error(int status, @Nullable String message) {
        if (BadFraming.HTTP_1_0.equals(message)) {
            return ErrorBody.invalidRequest(
                    status,
                    "HTTP/1.0 is not supported; send HTTP/1.1. Let a proxy in front of the broker"
                            + " use HTTP/1.1; in nginx, set proxy_http_version 1.1.");
        }
        return switch (status) {
            case 404 -> ErrorBody.of(404, "NOT_FOUND", unknownPath);
            case 411 ->
                    ErrorBody.invalidRequest(
                            411,
                            "A body needs a Content-Length; Transfer-Encoding is not accepted. A proxy"
                                    + " in front of the broker must buffer bodies and send their length.");
            case 413 -> ErrorBody.invalidRequest(413, "The body is longer than 64 KiB.");
            case 414 -> ErrorBody.invalidRequest(414, "The request's first line is too long.");
            case 503 -> busy();
            default -> status < 500 ? malformed(status) : ErrorBody.internalError();
        };
    }

    private static ErrorBody malformed(int status) {
        return ErrorBody.invalidRequest(
                status,
                "The request is not valid HTTP/1.1, its length is ambiguous, its body is encoded,"
                        + " or its path or headers are too long.");
    }

    private static ErrorBody busy() {
        return new ErrorBody(
                503,
                "SERVICE_UNAVAILABLE",
                "The broker is busy; try again in a second.",
                Json.object(),
                Optional.of(SOON));
    }
}
