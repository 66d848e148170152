package io.mintmark.broker.http;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.helidon.http.HttpException;
import io.helidon.http.RequestException;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ErrorHandler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.verdict.Unavailable;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Answers requests that ended in an exception. Its words stay in the log. */
final class Failures implements ErrorHandler<Throwable> {
    private static final Logger log = LoggerFactory.getLogger(Failures.class);
    private static final int SERVER_ERROR = 500;

    /**
     * The time for which the same reasons, recognized by their hash code, aren't logged again,
     * because clients repeat failing requests.
     */
    private static final Duration LOGGED = Duration.ofSeconds(10);

    private static final int MOST_LOGGED = 1_000;

    private final Cache<Integer, Boolean> logged =
            Caffeine.newBuilder()
                    .maximumSize(MOST_LOGGED)
                    .expireAfterWrite(LOGGED)
                    .executor(Runnable::run)
                    .build();
    private final Answers answers;
    private final RequestListener listener;

    Failures(Answers answers, RequestListener listener) {
        this.answers = answers;
        this.listener = listener;
    }

    @Override
    public void handle(ServerRequest request, ServerResponse response, Throwable failure) {
        if (failure instanceof CloseConnectionException close) {
            throw close;
        }
        answers.send(request, response, answer(failure));
    }

    private ErrorBody answer(Throwable failure) {
        return switch (failure) {
            case BadRequest bad -> bad.answer();
            case Unavailable unavailable -> unavailable(unavailable);
            case RequestException bad -> refused(bad.status().code());
            case HttpException bad -> refused(bad.status().code());
            default -> internal(failure);
        };
    }

    private ErrorBody unavailable(Unavailable failure) {
        listener.failed(Optional.of(failure.part()));
        String reasons = reasons(failure);
        if (logged.asMap().putIfAbsent(reasons.hashCode(), true) == null) {
            log.warn(
                    "{} (logged once in {} s; mintmark_failures_total counts all)",
                    reasons,
                    LOGGED.toSeconds());
        }
        return Refusals.of(failure);
    }

    /** Failures of other systems are logged with their causes and without a stack trace. */
    private static String reasons(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .map(Throwable::getMessage)
                .filter(Objects::nonNull)
                .distinct()
                .map(Failures::withoutPeriod)
                .collect(Collectors.joining(": "));
    }

    private static String withoutPeriod(String reason) {
        return reason.endsWith(".") ? reason.substring(0, reason.length() - 1) : reason;
    }

    private ErrorBody refused(int status) {
        if (status < SERVER_ERROR) {
            return ErrorBody.invalidRequest(status, "The request is not well-formed HTTP.");
        }
        listener.failed(Optional.empty());
        return ErrorBody.internalError();
    }

    private ErrorBody internal(Throwable failure) {
        listener.failed(Optional.empty());
        log.error("A request failed", failure);
        return ErrorBody.internalError();
    }
}
