package io.mintmark.broker.http;

import io.mintmark.base.verdict.AccessRefusal;
import io.mintmark.base.verdict.ApprovalRefusal;
import io.mintmark.base.verdict.LimitRefusal;
import io.mintmark.base.verdict.MintRefusal;
import io.mintmark.base.verdict.MovedRefusal;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.RequestRefusal;
import io.mintmark.base.verdict.TokenRefusal;

import java.time.Duration;
import java.time.Instant;
import java.util.OptionalLong;

/**
 * An error as clients of AWS STS read it (AWS STS API reference, "Common Error Types" and the
 * errors of {@code AssumeRoleWithWebIdentity}). The SDKs repeat a request at a status from 500 on
 * and at {@code Throttling}.
 */
record StsError(int status, String code, String message, OptionalLong retryAfterSeconds)
        implements ErrorAnswer {
    private static final int BAD_REQUEST = 400;
    private static final int UNAUTHORIZED = 401;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int WRONG_METHOD = 405;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVER_ERROR = 500;
    private static final int UNAVAILABLE = 503;
    private static final Duration SOON = Duration.ofSeconds(5);

    private static final String ROLE_HINT =
            " RoleArn must be the role_arn of a granted key, or end in its name.";

    private static final String OTHER_ACTIONS =
            "Only POST with AssumeRoleWithWebIdentity works here. For other calls to AWS STS, unset"
                    + " AWS_ENDPOINT_URL_STS, or set endpoint_url for sts only in the profile that gets"
                    + " its credentials here.";

    /** A request that no client may send. */
    static StsError validation(String message) {
        return of(BAD_REQUEST, "ValidationError", message);
    }

    /**
     * An action that only AWS has.
     *
     * @param action as the client sent it; may be empty
     */
    static StsError invalidAction(String action) {
        return of(
                BAD_REQUEST,
                "InvalidAction",
                action.isEmpty()
                        ? OTHER_ACTIONS
                        : "Mintmark is not AWS STS, and has no action '%s'. %s"
                                .formatted(action, OTHER_ACTIONS));
    }

    /** An error that isn't of this protocol: of the limits, the server or the broker. */
    static StsError of(ErrorBody error) {
        int status = error.status();
        String message =
                status == NOT_FOUND || status == WRONG_METHOD
                        ? error.message() + " " + OTHER_ACTIONS
                        : error.message();
        return new StsError(status, code(status), message, error.retryAfterSeconds());
    }

    private static String code(int status) {
        return switch (status) {
            case UNAUTHORIZED -> "InvalidIdentityToken";
            case FORBIDDEN -> "AccessDenied";
            case NOT_FOUND, WRONG_METHOD -> "InvalidAction";
            case TOO_MANY_REQUESTS -> "Throttling";
            case UNAVAILABLE -> "ServiceUnavailable";
            default -> status >= SERVER_ERROR ? "InternalFailure" : "ValidationError";
        };
    }

    /** The error of a refusal by the use case. */
    static StsError of(Refusal refusal) {
        String message = Refusals.of(refusal).message();
        return switch (refusal) {
            case RequestRefusal _ -> validation(message);
            case TokenRefusal token ->
                    of(
                            BAD_REQUEST,
                            token instanceof TokenRefusal.TokenExpired
                                    ? "ExpiredTokenException"
                                    : "InvalidIdentityToken",
                            "%s (%s)".formatted(message, token.word()));
            case ApprovalRefusal _, LimitRefusal _, MovedRefusal _ -> of(Refusals.of(refusal));
            case AccessRefusal _ -> of(FORBIDDEN, "AccessDenied", message + ROLE_HINT);
            case MintRefusal mint ->
                    of(mint.reason(), "%s (%s)".formatted(message, mint.reason().word()));
        };
    }

    /** Errors that a retry can't fix get a status that SDKs don't retry. */
    private static StsError of(MintRefusal.Reason reason, String message) {
        return switch (reason) {
            case PROVIDER_REJECTED, BROKER_IDENTITY_REJECTED ->
                    of(FORBIDDEN, "AccessDenied", message);
            case PROVIDER_MISCONFIGURED -> validation(message);
            case PROVIDER_THROTTLED -> later("Throttling", message);
            case PROVIDER_TIMEOUT, PROVIDER_UNREACHABLE, PROVIDER_ERROR ->
                    later("ServiceUnavailable", message);
        };
    }

    private static StsError later(String code, String message) {
        return new StsError(UNAVAILABLE, code, message, OptionalLong.of(SOON.toSeconds()));
    }

    private static StsError of(int status, String code, String message) {
        return new StsError(status, code, message, OptionalLong.empty());
    }

    @Override
    public Content content(String requestId, Instant at, ErrorPage page) {
        return StsContent.error(this, requestId);
    }

    /** The party at fault, in AWS's words. */
    String type() {
        return status >= SERVER_ERROR ? "Receiver" : "Sender";
    }
}
