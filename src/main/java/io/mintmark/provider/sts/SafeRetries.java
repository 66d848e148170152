package io.mintmark.provider.sts;

import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.retries.StandardRetryStrategy;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.retries.api.RetryStrategy;

import java.time.Duration;

/**
 * Retries a call of an STS only if its response says that it gave no credential and that a retry
 * may help. After a broken connection there may be a credential, which only the cloud's log would
 * show.
 */
final class SafeRetries {
    private static final int ATTEMPTS = 3;
    private static final Duration FIRST_WAIT = Duration.ofMillis(100);
    private static final Duration FIRST_WAIT_WHEN_THROTTLED = Duration.ofMillis(300);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);

    private SafeRetries() {}

    static RetryStrategy strategy() {
        return StandardRetryStrategy.builder()
                .maxAttempts(ATTEMPTS)
                .backoffStrategy(BackoffStrategy.exponentialDelay(FIRST_WAIT, LONGEST_WAIT))
                .throttlingBackoffStrategy(
                        BackoffStrategy.exponentialDelay(FIRST_WAIT_WHEN_THROTTLED, LONGEST_WAIT))
                .treatAsThrottling(
                        e -> e instanceof AwsServiceException s && StsErrors.isThrottling(s))
                .retryOnException(e -> e instanceof AwsServiceException answer && mayHelp(answer))
                // the SDK would also try again after broken connections
                .useClientDefaults(false)
                // its budget is the client's, so one tenant's failures would cost others theirs
                .circuitBreakerEnabled(false)
                .build();
    }

    /** Whether a retry may help after this response. */
    static boolean mayHelp(AwsServiceException answer) {
        return StsErrors.isThrottling(answer)
                || answer.statusCode() == 503
                || switch (StsErrors.word(answer)) {
                    case "IDPCommunicationError" -> true;
                    case "InvalidIdentityToken" -> couldNotFetchTheKey(answer);
                    default -> false;
                };
    }

    /**
     * AWS has no code for it: "Couldn't retrieve verification key from your identity provider,
     * please reference AssumeRoleWithWebIdentity documentation for requirements".
     */
    private static boolean couldNotFetchTheKey(AwsServiceException answer) {
        return StsErrors.message(answer).orElse("").contains("retrieve verification key");
    }
}
