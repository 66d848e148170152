package io.mintmark.base.verdict;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * The token is good, and its subject may not ask for access so, or not decide or end a request. A
 * {@code detail} is a sentence for the client.
 */
public sealed interface ApprovalRefusal extends Refusal {

    /**
     * No rule lets the subject ask for these keys, or it is blocked: 403.
     *
     * @param keys in the order of the request; whether the tenant has them isn't said
     */
    record NotRequestable(String subject, List<String> keys, String detail)
            implements ApprovalRefusal {
        public NotRequestable {
            keys = List.copyOf(keys);
        }
    }

    /**
     * A bound of the tenant is reached: 429.
     *
     * @param limit how many there may be
     * @param window for how long one counts at most
     * @param resetAt when there is room for another
     * @param retryAfter the time until then in whole seconds, at least one
     */
    record TooMany(String detail, int limit, Duration window, Instant resetAt, Duration retryAfter)
            implements ApprovalRefusal {}

    /** There is no such request, or the subject has no part in it: 404. */
    record UnknownRequest() implements ApprovalRefusal {}

    /**
     * The subject may not decide this request: 403.
     *
     * @param reason the stable word of {@code details.reason}
     */
    record NotApprover(String reason, String detail) implements ApprovalRefusal {}

    /**
     * The request, or what it asks for, is in a state that doesn't allow this: 409.
     *
     * @param reason the stable word of {@code details.reason}
     * @param status of the request; empty where there is none
     */
    record Conflict(String reason, String status, String detail) implements ApprovalRefusal {}
}
