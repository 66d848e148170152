package io.mintmark.http;

import io.mintmark.verdict.MintRefusal;
import io.mintmark.verdict.Refusal;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * An error as the AWS SDKs' container providers read it: they print {@code code} and {@code
 * message}, and repeat the request at a status from 500 on. None has status 404: S3 tools take that
 * for a missing directory and go on, so that an unknown key is denied like one without a grant.
 */
record AwsSdkError(ErrorBody told) implements ErrorAnswer {
    private static final int BAD_REQUEST = 400;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int UNAVAILABLE = 503;
    private static final Duration SOON = Duration.ofSeconds(5);

    AwsSdkError {
        if (told.status() == NOT_FOUND) {
            told = ErrorBody.of(FORBIDDEN, "FORBIDDEN", told.message(), told.details());
        }
    }

    /** What repeating can't mend gets a status that isn't repeated. */
    static ErrorAnswer of(Refusal refusal) {
        ErrorBody told = Refusals.of(refusal);
        return new AwsSdkError(
                refusal instanceof MintRefusal mint ? withStatus(told, mint.reason()) : told);
    }

    private static ErrorBody withStatus(ErrorBody told, MintRefusal.Reason reason) {
        return switch (reason) {
            case PROVIDER_REJECTED, BROKER_IDENTITY_REJECTED, PROVIDER_MISCONFIGURED ->
                    new ErrorBody(
                            BAD_REQUEST,
                            told.code(),
                            told.message(),
                            told.details(),
                            Optional.empty());
            case PROVIDER_TIMEOUT, PROVIDER_UNREACHABLE, PROVIDER_THROTTLED, PROVIDER_ERROR ->
                    new ErrorBody(
                            UNAVAILABLE,
                            told.code(),
                            told.message(),
                            told.details(),
                            Optional.of(told.retryAfter().orElse(SOON)));
        };
    }

    @Override
    public int status() {
        return told.status();
    }

    @Override
    public OptionalLong retryAfterSeconds() {
        return told.retryAfterSeconds();
    }

    @Override
    public Content content(String requestId, Instant at) {
        return Content.json(told.json(requestId, at).put("code", told.code()));
    }
}
