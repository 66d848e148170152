package io.mintmark.broker.http;

import io.mintmark.base.verdict.MintRefusal;
import io.mintmark.base.verdict.Refusal;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * An error as the AWS SDKs' container providers read it: they print {@code code} and {@code
 * message}, which therefore ends with the request id, and repeat the request at a status from 500
 * on. None has status 404: S3 tools take that for a missing directory and go on, so that an unknown
 * key is denied like one without a grant.
 */
record AwsSdkError(ErrorBody error) implements ErrorAnswer {
    private static final int BAD_REQUEST = 400;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int UNAVAILABLE = 503;
    private static final Duration SOON = Duration.ofSeconds(5);

    AwsSdkError {
        if (error.status() == NOT_FOUND) {
            error = ErrorBody.of(FORBIDDEN, "FORBIDDEN", error.message(), error.details());
        }
    }

    /** Errors that a retry can't fix get a status that SDKs don't retry. */
    static ErrorAnswer of(Refusal refusal) {
        ErrorBody error = Refusals.of(refusal);
        return new AwsSdkError(
                refusal instanceof MintRefusal mint ? withStatus(error, mint.reason()) : error);
    }

    private static ErrorBody withStatus(ErrorBody error, MintRefusal.Reason reason) {
        return switch (reason) {
            case PROVIDER_REJECTED, BROKER_IDENTITY_REJECTED, PROVIDER_MISCONFIGURED ->
                    new ErrorBody(
                            BAD_REQUEST,
                            error.code(),
                            error.message(),
                            error.details(),
                            Optional.empty());
            case PROVIDER_TIMEOUT, PROVIDER_UNREACHABLE, PROVIDER_THROTTLED, PROVIDER_ERROR ->
                    new ErrorBody(
                            UNAVAILABLE,
                            error.code(),
                            error.message(),
                            error.details(),
                            Optional.of(error.retryAfter().orElse(SOON)));
        };
    }

    @Override
    public int status() {
        return error.status();
    }

    @Override
    public OptionalLong retryAfterSeconds() {
        return error.retryAfterSeconds();
    }

    @Override
    public Content content(String requestId, Instant at, ErrorPage page) {
        return Content.json(
                error.json(requestId, at, page)
                        .put("code", error.code())
                        .put("message", "%s (request %s)".formatted(error.message(), requestId)));
    }
}
