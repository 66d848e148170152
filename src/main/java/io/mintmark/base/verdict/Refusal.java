package io.mintmark.base.verdict;

/** Why a request was refused. One record for each reason, with the fields that the answer shows. */
public sealed interface Refusal
        permits RequestRefusal, TokenRefusal, AccessRefusal, LimitRefusal, MintRefusal {

    /** As metrics and the log say it. */
    default String word() {
        return switch (this) {
            case RequestRefusal _ -> "invalid_request";
            case TokenRefusal token -> token.word();
            case AccessRefusal.KeysDenied _ -> "keys_denied";
            case AccessRefusal.KeysMissing _ -> "keys_missing";
            case AccessRefusal.SubjectNotFound _ -> "subject_not_found";
            case LimitRefusal _ -> "tenant_limit";
            case MintRefusal mint -> mint.reason().word();
        };
    }
}
