package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.verdict.ApprovalRefusal;
import io.mintmark.base.verdict.ApprovalRefusal.Conflict;
import io.mintmark.base.verdict.ApprovalRefusal.NotApprover;
import io.mintmark.base.verdict.ApprovalRefusal.NotRequestable;
import io.mintmark.base.verdict.ApprovalRefusal.TooMany;
import io.mintmark.base.verdict.ApprovalRefusal.UnknownRequest;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Maps each refusal about requests for access to its HTTP response. */
final class ApprovalRefusals {
    private static final int CONFLICT = 409;

    private ApprovalRefusals() {}

    static ErrorBody of(ApprovalRefusal refusal) {
        return switch (refusal) {
            case NotRequestable(String subject, List<String> keys, String detail) ->
                    ErrorBody.of(
                            403,
                            "FORBIDDEN",
                            detail,
                            Refusals.with(
                                    Json.object().put("subject", subject), "deniedKeys", keys));
            case TooMany(
                            String detail,
                            int limit,
                            Duration window,
                            Instant resetAt,
                            Duration retryAfter) ->
                    RateLimits.exceeded(detail, limit, window, resetAt, retryAfter);
            case UnknownRequest() ->
                    ErrorBody.of(
                            404,
                            "NOT_FOUND",
                            "There is no such request for access, or the token's subject has no"
                                    + " part in it; GET /access-requests lists yours.");
            case NotApprover(String reason, String detail) ->
                    ErrorBody.of(403, "FORBIDDEN", detail, Json.object().put("reason", reason));
            case Conflict(String reason, String status, String detail) ->
                    ErrorBody.of(CONFLICT, "INVALID_REQUEST", detail, details(reason, status));
        };
    }

    private static ObjectNode details(String reason, String status) {
        ObjectNode details = Json.object().put("reason", reason);
        return status.isEmpty() ? details : details.put("status", status);
    }
}
