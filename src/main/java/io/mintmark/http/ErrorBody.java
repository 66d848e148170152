package io.mintmark.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

import java.time.Duration;
import java.util.Optional;

/**
 * An error as clients see it (interface section 7).
 *
 * @param status the HTTP status
 * @param code in SCREAMING_SNAKE_CASE
 * @param message a sentence that helps
 * @param details what belongs to the code; empty where there is none
 * @param retryAfter when it is worth to ask again
 */
record ErrorBody(
        int status,
        String code,
        String message,
        ObjectNode details,
        Optional<Duration> retryAfter) {

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
                "Something went wrong in the broker; its log says more under this request id.");
    }
}
