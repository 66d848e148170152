package io.mintmark.broker.http;

import io.mintmark.base.outbound.Secret;
import io.mintmark.broker.token.PresentedToken;

import java.time.Duration;
import java.util.Optional;

/**
 * A request in the query protocol of AWS STS, checked as far as it can be by itself (AWS STS API
 * reference, {@code AssumeRoleWithWebIdentity}).
 */
sealed interface StsForm {
    String ACTION = "AssumeRoleWithWebIdentity";

    /** The maximum length of a role's ARN, in characters, as for AWS. */
    int LONGEST_ROLE = 2_048;

    /** The maximum length of a session's name, in characters, as for AWS. */
    int LONGEST_SESSION_NAME = 64;

    /**
     * The maximum length of an action in a message, in characters. A longer one is shown cut off.
     */
    int LONGEST_ACTION = 64;

    /** The maximum length of {@code DurationSeconds}, in digits. */
    int LONGEST_DURATION = 9;

    /**
     * A request that can be passed on.
     *
     * @param lifetime the longest that the client wants the credential to be valid
     * @param sessionName at most 64 characters, for the log; the broker names sessions itself
     */
    record Valid(
            PresentedToken token,
            RoleKeys role,
            Optional<Duration> lifetime,
            Optional<String> sessionName)
            implements StsForm {}

    record Invalid(StsError error) implements StsForm {}

    static StsForm of(FormParameters form) {
        return error(form).<StsForm>map(Invalid::new).orElseGet(() -> valid(form));
    }

    private static Valid valid(FormParameters form) {
        return new Valid(
                new PresentedToken(new Secret(token(form))),
                new RoleKeys(form.value("RoleArn").orElseThrow()),
                form.value("DurationSeconds").map(text -> Duration.ofSeconds(seconds(text))),
                form.value("RoleSessionName").map(name -> cut(name, LONGEST_SESSION_NAME)));
    }

    private static Optional<StsError> error(FormParameters form) {
        return actionError(form)
                .or(() -> policyError(form))
                .or(() -> roleError(form))
                .or(() -> tokenError(form))
                .or(() -> durationError(form));
    }

    private static Optional<StsError> actionError(FormParameters form) {
        String action = form.value("Action").orElse("");
        return action.equals(ACTION)
                ? Optional.empty()
                : Optional.of(StsError.invalidAction(cut(action, LONGEST_ACTION)));
    }

    /**
     * Rejects policies. If the broker ignored one, the client would have more access than it wants.
     */
    private static Optional<StsError> policyError(FormParameters form) {
        boolean given =
                form.parameters().keySet().stream()
                        .anyMatch(name -> name.equals("Policy") || name.startsWith("PolicyArns"));
        return given
                ? invalid(
                        "Session policies are part of the key. Send neither Policy nor PolicyArns.")
                : Optional.empty();
    }

    private static Optional<StsError> roleError(FormParameters form) {
        String role = form.value("RoleArn").orElse("");
        return role.startsWith("arn:") && role.length() <= LONGEST_ROLE
                ? Optional.empty()
                : invalid(
                        ("RoleArn must be an ARN of at most %d characters: the role_arn of a key,"
                                        + " or arn:aws:iam::000000000000:role/KEY with the name of a key.")
                                .formatted(LONGEST_ROLE));
    }

    private static Optional<StsError> tokenError(FormParameters form) {
        return token(form).isEmpty()
                ? invalid("WebIdentityToken is missing. Send an OIDC identity token.")
                : Optional.empty();
    }

    private static Optional<StsError> durationError(FormParameters form) {
        return form.value("DurationSeconds")
                .filter(text -> seconds(text) < 1)
                .flatMap(_ -> invalid("DurationSeconds must be a positive number of seconds."));
    }

    /**
     * The token without surrounding whitespace, because files with tokens often end with a newline.
     */
    private static String token(FormParameters form) {
        return form.value("WebIdentityToken").orElse("").strip();
    }

    /** The number; 0 for an empty text. */
    private static long seconds(String text) {
        boolean digits =
                text.length() <= LONGEST_DURATION
                        && text.chars().allMatch(digit -> digit >= '0' && digit <= '9');
        return digits ? Long.parseLong(text) : 0;
    }

    private static String cut(String text, int length) {
        return text.substring(0, Math.min(text.length(), length));
    }

    private static Optional<StsError> invalid(String message) {
        return Optional.of(StsError.validation(message));
    }
}
