package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * An error as clients see it (HTTP API section 7).
 *
 * @param code in SCREAMING_SNAKE_CASE
 * @param message a sentence that helps
 * @param details what belongs to the code; empty where there is none
 * @param retryAfter when it is worth to ask again
 */
record ErrorBody(
        int status, String code, String message, ObjectNode details, Optional<Duration> retryAfter)
        implements ErrorAnswer {

    static ErrorBody of(int status, String code, String message) {
        return new ErrorBody(status, code, message, Json.object(), Optional.empty());
    }

    static ErrorBody of(int status, String code, String message, ObjectNode details) {
        return new ErrorBody(status, code, message, details, Optional.empty());
    }

    /** A request that the interface doesn't know. */
    static ErrorBody invalidRequest(int status, String message) {
        return of(status, "INVALID_REQUEST", message);
    }

    static ErrorBody internalError() {
        return of(
                500,
                "INTERNAL_ERROR",
                "The broker failed; its log has the reason under this request id. Try again, and contact an operator if it keeps failing.");
    }

    /** Where the {@link ErrorPage} explains this error. */
    String anchor() {
        return ErrorPage.anchor(code, details);
    }

    @Override
    public Content content(String requestId, Instant at, ErrorPage page) {
        return Content.json(json(requestId, at, page));
    }

    /** The body of the interface, to which protocols may add members. */
    ObjectNode json(String requestId, Instant at, ErrorPage page) {
        ObjectNode body = Json.object().put("error", code).put("message", message);
        if (!details.isEmpty()) {
            body.set("details", details);
        }
        body.put("requestId", requestId);
        page.link(body, "doc_url", anchor());
        retryAfterSeconds().ifPresent(seconds -> body.put("retryAfter", seconds));
        return body.put("timestamp", at.truncatedTo(ChronoUnit.MILLIS).toString());
    }

    /** {@link #retryAfter()} as the header and the body say it: whole seconds, at least one. */
    @Override
    public OptionalLong retryAfterSeconds() {
        return retryAfter.stream().mapToLong(wait -> Math.max(1, wait.toSeconds())).findFirst();
    }
}
