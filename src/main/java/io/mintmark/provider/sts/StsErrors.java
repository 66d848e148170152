package io.mintmark.provider.sts;

import static io.mintmark.base.verdict.MintRefusal.Reason.BROKER_IDENTITY_REJECTED;
import static io.mintmark.base.verdict.MintRefusal.Reason.PROVIDER_ERROR;
import static io.mintmark.base.verdict.MintRefusal.Reason.PROVIDER_MISCONFIGURED;
import static io.mintmark.base.verdict.MintRefusal.Reason.PROVIDER_REJECTED;
import static io.mintmark.base.verdict.MintRefusal.Reason.PROVIDER_THROTTLED;

import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.sts.StsEndpoint.Use;

import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;

import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The meaning of an STS's error codes. Sources: the errors of AssumeRole and
 * AssumeRoleWithWebIdentity and the common errors in the AWS STS API reference, and MinIO's {@code
 * sts-errors.go}.
 */
final class StsErrors {
    private static final String SUFFIX = "Exception";

    /** Error codes with which a service rejects the broker's identity. */
    private static final Set<String> IDENTITY =
            Set.of(
                    "InvalidIdentityToken",
                    "ExpiredToken",
                    "IDPRejectedClaim",
                    "IDPCommunicationError",
                    "InvalidClientTokenId",
                    "UnrecognizedClient",
                    "SignatureDoesNotMatch",
                    "IncompleteSignature",
                    "MissingAuthenticationToken",
                    "RequestExpired");

    /** Error codes with which a service rejects a broker that it has identified. */
    private static final Set<String> REJECTED =
            Set.of("AccessDenied", "NotAuthorized", "UnauthorizedAccess");

    private static final Set<String> THROTTLED = Set.of("SlowDown", "RateExceeded");

    /** Error codes of requests that are invalid or impossible. */
    private static final Set<String> MISCONFIGURED =
            Set.of(
                    "ValidationError",
                    "Validation",
                    "MalformedPolicyDocument",
                    "PackedPolicyTooLarge",
                    "RegionDisabled",
                    "InvalidParameterValue",
                    "InvalidParameterCombination",
                    "MissingParameter",
                    "InvalidAction",
                    "OptInRequired");

    /**
     * MinIO has one code for all invalid requests, and only the message distinguishes them. These
     * messages are about what the key or the provider requests; all others are about the token: its
     * key, signature, audience or time.
     */
    private static final Pattern OF_THE_SETTINGS =
            Pattern.compile(
                    "\\b(roles?|rolearn|polic(y|ies)|actions?|resources?|conditions?|effect|version|statements?|duration|claim"
                            + " missing)\\b",
                    Pattern.CASE_INSENSITIVE);

    private StsErrors() {}

    static Reason meaning(AwsServiceException error, Use use) {
        String code = word(error);
        if (use == Use.STORAGE && code.equals("InvalidParameterValue")) {
            return OF_THE_SETTINGS.matcher(message(error).orElse("")).find()
                    ? PROVIDER_MISCONFIGURED
                    : BROKER_IDENTITY_REJECTED;
        }
        if (isThrottling(error)) {
            return PROVIDER_THROTTLED;
        }
        if (IDENTITY.contains(code)) {
            return BROKER_IDENTITY_REJECTED;
        }
        if (REJECTED.contains(code)) {
            return PROVIDER_REJECTED;
        }
        if (MISCONFIGURED.contains(code)) {
            return PROVIDER_MISCONFIGURED;
        }
        return PROVIDER_ERROR;
    }

    static boolean isThrottling(AwsServiceException error) {
        return error.isThrottlingException() || THROTTLED.contains(word(error));
    }

    /**
     * The code without the suffix that AWS's services write or leave out; empty if the answer was
     * no error document.
     */
    static String word(AwsServiceException error) {
        String code = code(error).orElse("");
        return code.endsWith(SUFFIX) ? code.substring(0, code.length() - SUFFIX.length()) : code;
    }

    /** The code of the error document, if the answer was one. */
    static Optional<String> code(AwsServiceException error) {
        return Optional.ofNullable(error.awsErrorDetails()).map(AwsErrorDetails::errorCode);
    }

    /** The message of the error document. */
    static Optional<String> message(AwsServiceException error) {
        return Optional.ofNullable(error.awsErrorDetails()).map(AwsErrorDetails::errorMessage);
    }
}
