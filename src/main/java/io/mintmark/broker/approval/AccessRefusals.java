package io.mintmark.broker.approval;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.verdict.ApprovalRefusal;
import io.mintmark.base.verdict.ApprovalRefusal.Conflict;
import io.mintmark.base.verdict.ApprovalRefusal.NotApprover;
import io.mintmark.base.verdict.ApprovalRefusal.NotRequestable;
import io.mintmark.base.verdict.ApprovalRefusal.TooMany;
import io.mintmark.base.verdict.ApprovalRefusal.UnknownRequest;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.RequestRefusal.BadField;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/** Why the database's functions refuse a request for access, or a decision on one. */
final class AccessRefusals {
    private static final Duration A_DAY = Duration.ofDays(1);

    private final InstantSource clock;

    /**
     * @param clock used to calculate when a client may retry
     */
    AccessRefusals(InstantSource clock) {
        this.clock = clock;
    }

    /** The first refusal in rows, if there is one. */
    Optional<Refusal> in(List<JsonNode> rows, Person who) {
        List<JsonNode> refused = rows.stream().filter(row -> row.hasNonNull("refusal")).toList();
        return refused.isEmpty() ? Optional.empty() : Optional.of(refusal(refused, who));
    }

    private Refusal refusal(List<JsonNode> refused, Person who) {
        JsonNode first = refused.getFirst();
        String reason = first.path("refusal").asText();
        String detail = first.path("detail").asText();
        return switch (reason) {
            case "no_rule", "blocked" ->
                    first.has("key")
                            ? new NotRequestable(who.subject(), keys(refused), detail)
                            : new NotApprover(reason, detail);
            case "bad_reason" -> new BadField("reason", detail);
            case "bad_seconds", "too_long", "too_short" -> new BadField("seconds", detail);
            case "bad_verdict" -> new BadField("verdict", detail);
            case "bad_note" -> new BadField("note", detail);
            case "too_many_requests", "too_many_changes" -> tooMany(detail, first);
            case "unknown_request" -> new UnknownRequest();
            case "not_an_approver", "own_request", "decided_with_actor", "token_not_fresh" ->
                    new NotApprover(reason, detail);
            case "nobody_can_approve",
                    "break_glass_open",
                    "grant_refused",
                    "requester_blocked",
                    "already_decided",
                    "not_pending",
                    "not_granted",
                    "lapsed",
                    "void" ->
                    new Conflict(reason, first.path("status").asText(""), detail);
            default ->
                    throw new IllegalStateException(
                            "the database refused the request for an unknown reason: " + reason);
        };
    }

    /** The keys that are refused because no rule allows requests for them. */
    private static List<String> keys(List<JsonNode> refused) {
        String reason = refused.getFirst().path("refusal").asText();
        return refused.stream()
                .filter(row -> row.path("refusal").asText().equals(reason))
                .map(row -> row.path("key").asText())
                .toList();
    }

    private ApprovalRefusal tooMany(String detail, JsonNode row) {
        Duration wait = Duration.ofSeconds(Math.max(1, row.path("retry_after").longValue()));
        return new TooMany(
                detail,
                row.path("bound").asInt(0),
                Duration.ofSeconds(row.path("bound_seconds").asLong(A_DAY.toSeconds())),
                clock.instant().plus(wait),
                wait);
    }
}
