package io.mintmark.provider.sts;

import io.mintmark.base.outbound.ProviderWords;
import io.mintmark.base.outbound.RefusedDestination;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.web.Calls;

import org.apache.hc.client5.http.ConnectTimeoutException;
import org.apache.hc.core5.http.ConnectionRequestTimeoutException;
import org.jspecify.annotations.Nullable;

import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkException;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.Optional;
import java.util.stream.Stream;

/** The result of a failed call to an STS. */
final class StsFailures {
    private StsFailures() {}

    static Failed of(SdkException failure, StsEndpoint sts) {
        Endpoint endpoint = sts.endpoint();
        return switch (failure) {
            case AwsServiceException answer ->
                    Calls.failed(StsErrors.meaning(answer, sts.use()), quote(answer), endpoint);
            case ApiCallTimeoutException _, ApiCallAttemptTimeoutException _, AbortedException _ ->
                    Calls.failed(
                            Reason.PROVIDER_TIMEOUT, "no response before the deadline", endpoint);
            default ->
                    broken(failure)
                            .map(cause -> Calls.failed(meaning(cause), describe(cause), endpoint))
                            .orElseGet(() ->
                                    Calls.failed(
                                            Reason.PROVIDER_ERROR,
                                            "the response can't be parsed",
                                            endpoint));
        };
    }

    private static String quote(AwsServiceException answer) {
        return "%s: %s (HTTP %d, request %s)"
                .formatted(
                        StsErrors.code(answer).orElse("no error code"),
                        ProviderWords.fit(StsErrors.message(answer).orElse("no message")),
                        answer.statusCode(),
                        Optional.ofNullable(answer.requestId()).orElse("unknown"));
    }

    /** The failure of the connection, if that is the cause. */
    private static Optional<IOException> broken(SdkException failure) {
        return Stream.<@Nullable Throwable>iterate(
                        failure, cause -> cause != null, cause -> cause.getCause())
                .filter(IOException.class::isInstance)
                .map(IOException.class::cast)
                .findFirst();
    }

    private static Reason meaning(IOException cause) {
        return switch (cause) {
            case RefusedDestination _ -> Reason.PROVIDER_MISCONFIGURED;
            case ConnectTimeoutException _ -> Reason.PROVIDER_UNREACHABLE;
            case ConnectionRequestTimeoutException _, SocketTimeoutException _ ->
                    Reason.PROVIDER_TIMEOUT;
            default -> Reason.PROVIDER_UNREACHABLE;
        };
    }

    private static String describe(IOException cause) {
        return "%s: %s"
                .formatted(
                        cause.getClass().getSimpleName(),
                        Optional.ofNullable(cause.getMessage()).orElse("no message"));
    }
}
