package io.mintmark.console;

import io.helidon.http.DirectHandler;
import io.helidon.http.Header;
import io.helidon.http.HeaderValues;
import io.helidon.http.HttpException;
import io.helidon.http.RequestException;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.ErrorHandler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.http.connection.BadFraming;
import io.mintmark.base.http.connection.GuardedPort;
import io.mintmark.base.http.request.AccessLog;
import io.mintmark.base.http.request.AddressLimits;
import io.mintmark.base.http.request.RequestIds;
import io.mintmark.base.limit.RateDecision;
import io.mintmark.base.verdict.Unavailable;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Answers what ended in an exception, and what never came as far as a route. */
final class ConsoleFailures implements ErrorHandler<Throwable>, DirectHandler {
    private static final Logger log = LoggerFactory.getLogger(ConsoleFailures.class);
    private static final int SERVER_ERROR = 500;

    private final AddressLimits limits;
    private final ConsoleMetrics metrics;

    /**
     * @param limits against which requests count that no filter has seen
     */
    ConsoleFailures(AddressLimits limits, ConsoleMetrics metrics) {
        this.limits = limits;
        this.metrics = metrics;
    }

    /** Handlers of every event that the server answers by itself. */
    DirectHandlers everywhere() {
        DirectHandlers.Builder builder = DirectHandlers.builder();
        for (EventType event : EventType.values()) {
            builder.addHandler(event, this);
        }
        return builder.build();
    }

    @Override
    public void handle(ServerRequest request, ServerResponse response, Throwable failure) {
        if (failure instanceof CloseConnectionException close) {
            throw close;
        }
        notice(failure).withLink("To the overview", "/").send(request, response);
    }

    private static Notice notice(Throwable failure) {
        return switch (failure) {
            case ReadingFailed failed -> {
                log.warn("A page failed", failed);
                yield reading(failed.why());
            }
            case Unavailable unavailable -> {
                log.warn("{}", unavailable.getMessage());
                yield unavailable("The identity provider's keys can't be fetched now.");
            }
            case RequestException bad -> ofStatus(bad.status().code());
            case HttpException bad -> ofStatus(bad.status().code());
            default -> {
                log.error("A page failed", failure);
                yield ofStatus(SERVER_ERROR);
            }
        };
    }

    private static Notice reading(ReadingFailed.Why why) {
        return switch (why) {
            case BUSY -> unavailable("The database doesn't answer now.");
            case TOO_SLOW ->
                    Notice.of(
                            503,
                            "Temporarily unavailable",
                            "The page took too long.",
                            "Narrow the search: add a tenant, a key, or a shorter time range.");
            case FAILED -> ofStatus(SERVER_ERROR);
        };
    }

    private static Notice unavailable(String sentence) {
        return Notice.of(503, "Temporarily unavailable", sentence, "Try again in a moment.");
    }

    private static Notice oldVersion(int status) {
        return Notice.of(
                status,
                "Error",
                "HTTP/1.0 is not supported.",
                "Let the proxy in front of the console use HTTP/1.1. In nginx, set proxy_http_version 1.1.");
    }

    private static Notice ofStatus(int status) {
        if (status == Status.SERVICE_UNAVAILABLE_503.code()) {
            return unavailable("The console is busy.");
        }
        if (status >= SERVER_ERROR) {
            return Notice.of(
                    status,
                    "Something went wrong",
                    "This page failed.",
                    "Try again. If it fails again, send the request id below to an operator: the"
                            + " console's log has the cause.");
        }
        return status == Status.REQUEST_URI_TOO_LONG_414.code()
                ? Notice.of(
                        status,
                        "Error",
                        "The URL is too long.",
                        "Go back, and search for a shorter text.")
                : Notice.of(
                        status,
                        "Error",
                        "The request is invalid.",
                        "Go back, or open another page.");
    }

    @Override
    public TransportResponse handle(
            TransportRequest request,
            EventType event,
            Status status,
            ServerResponseHeaders headers,
            @Nullable String message) {
        String requestId =
                Optional.ofNullable(MDC.get(RequestIds.IN_LOG))
                        .orElseGet(() -> RequestIds.chosen(request.headers()));
        for (Header header : PageHeaders.ALL) {
            headers.set(header);
        }
        Optional<RateDecision> denied =
                limits.countUnrouted(request.headers(), status)
                        .filter(decision -> !decision.allowed());
        denied.map(PageLimits::retryAfter).ifPresent(headers::set);
        Notice notice =
                denied.map(PageLimits::notice)
                        .orElseGet(() ->
                                BadFraming.HTTP_1_0.equals(message)
                                        ? oldVersion(status.code())
                                        : ofStatus(status.code()));
        if (RequestIds.current().isEmpty()) {
            metrics.responded(notice.status());
            AccessLog.unrouted(
                    GuardedPort.currentPeer(),
                    requestId,
                    notice.status(),
                    "INVALID_REQUEST",
                    notice.sentence());
        }
        notice.headers().forEach(headers::set);
        headers.set(HeaderValues.create(RequestIds.HEADER, requestId));
        return TransportResponse.builder()
                .status(Status.create(notice.status()))
                .headers(headers)
                .keepAlive(event.keepAlive())
                .entity(notice.html(requestId).getBytes(StandardCharsets.UTF_8))
                .build();
    }
}
