package io.mintmark.base.verdict;

/** Why a request was refused. One record for each reason, with the fields that the answer shows. */
public sealed interface Refusal
        permits RequestRefusal,
                TokenRefusal,
                AccessRefusal,
                ApprovalRefusal,
                LimitRefusal,
                MovedRefusal,
                MintRefusal {

    /** The reason code in metrics and in the log. */
    default String word() {
        return switch (this) {
            case RequestRefusal _ -> "invalid_request";
            case TokenRefusal token -> token.word();
            case AccessRefusal.KeysDenied _ -> "keys_denied";
            case AccessRefusal.KeysMissing _ -> "keys_missing";
            case AccessRefusal.SubjectNotFound _ -> "subject_not_found";
            case ApprovalRefusal.NotRequestable _ -> "not_requestable";
            case ApprovalRefusal.TooMany _ -> "too_many_requests";
            case ApprovalRefusal.UnknownRequest _ -> "unknown_request";
            case ApprovalRefusal.NotApprover refused -> refused.reason();
            case ApprovalRefusal.Conflict conflict -> conflict.reason();
            case LimitRefusal _ -> "tenant_limit";
            case MovedRefusal _ -> "tenant_moved";
            case MintRefusal mint -> mint.reason().word();
        };
    }
}
