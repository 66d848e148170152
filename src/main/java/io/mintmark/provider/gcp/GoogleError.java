package io.mintmark.provider.gcp;

import static io.mintmark.base.verdict.MintRefusal.Reason.BROKER_IDENTITY_REJECTED;
import static io.mintmark.base.verdict.MintRefusal.Reason.PROVIDER_ERROR;
import static io.mintmark.base.verdict.MintRefusal.Reason.PROVIDER_MISCONFIGURED;
import static io.mintmark.base.verdict.MintRefusal.Reason.PROVIDER_REJECTED;
import static io.mintmark.base.verdict.MintRefusal.Reason.PROVIDER_THROTTLED;
import static io.mintmark.base.verdict.MintRefusal.Reason.PROVIDER_TIMEOUT;

import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.ServiceAnswer;
import io.mintmark.base.verdict.MintRefusal.Reason;

import java.util.List;
import java.util.Set;

/**
 * An error of Google. The token service returns OAuth errors (RFC 6749 section 5.2); the other
 * service, and proxies of both, return {@code google.rpc.Status}. Sources: the "Errors" page of
 * Google's API design guide, {@code google/rpc/code.proto}, {@code google/api/error_reason.proto},
 * and "Troubleshoot Workload Identity Federation".
 *
 * @param code of OAuth or of {@code google.rpc.Code}; empty if the answer is neither
 * @param details reasons of {@code google.rpc.ErrorInfo}
 */
record GoogleError(int status, String code, String words, List<String> details) {
    /** Errors of a project that isn't set up, which no other grant would fix. */
    private static final Set<String> NOT_SET_UP =
            Set.of("SERVICE_DISABLED", "BILLING_DISABLED", "CONSUMER_INVALID");

    /** Google refuses longer lifetimes with words only. */
    private static final String LIFETIMES =
            "constraints/iam.allowServiceAccountCredentialLifetimeExtension";

    GoogleError {
        details = List.copyOf(details);
    }

    static GoogleError of(Reply reply) {
        ServiceAnswer answer = reply.answer();
        return new GoogleError(
                reply.status(),
                answer.code("error", "status").or(() -> answer.code("error")).orElse(""),
                answer.words("error", "message")
                        .or(() -> answer.words("error_description"))
                        .orElse(""),
                answer.codes("reason"));
    }

    Reason meaning() {
        if (words.contains(LIFETIMES) || details.stream().anyMatch(NOT_SET_UP::contains)) {
            return PROVIDER_MISCONFIGURED;
        }
        return switch (code) {
            // the token, or who asks with it
            case "invalid_grant", "invalid_client", "UNAUTHENTICATED" -> BROKER_IDENTITY_REJECTED;
            // the attribute condition says no, or the policy of the service account
            case "unauthorized_client", "access_denied", "PERMISSION_DENIED" -> PROVIDER_REJECTED;
            // no such provider or pool, or it is disabled; no such service account
            case "invalid_target",
                    "NOT_FOUND",
                    "invalid_request",
                    "invalid_scope",
                    "unsupported_grant_type",
                    "INVALID_ARGUMENT",
                    "FAILED_PRECONDITION",
                    "OUT_OF_RANGE",
                    "UNIMPLEMENTED" ->
                    PROVIDER_MISCONFIGURED;
            case "RESOURCE_EXHAUSTED" -> PROVIDER_THROTTLED;
            case "DEADLINE_EXCEEDED" -> PROVIDER_TIMEOUT;
            default -> byStatus();
        };
    }

    private Reason byStatus() {
        return switch (status) {
            case 401 -> BROKER_IDENTITY_REJECTED;
            case 403 -> PROVIDER_REJECTED;
            case 404, 405 -> PROVIDER_MISCONFIGURED;
            case 429 -> PROVIDER_THROTTLED;
            default -> PROVIDER_ERROR;
        };
    }

    String quote() {
        return "%s: %s (HTTP %d)"
                .formatted(
                        code.isEmpty() ? "no error code" : code,
                        words.isEmpty() ? "no message" : words,
                        status);
    }
}
