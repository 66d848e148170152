package io.mintmark.auditor.reader;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.tenant.Glob;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.catalogue.DocumentFields;
import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.MatchingBudget;
import io.mintmark.broker.token.SeenClaims;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A request as its rule allows it, and a grant as its request asked for it. */
final class RequestedGrant {
    /** The columns of a request that change. */
    private static final List<String> STATUS =
            List.of(
                    "status",
                    "grant_id",
                    "withdrawn_by",
                    "signed_off_by",
                    "signed_off_at",
                    "updated_at",
                    "updated_by");

    private RequestedGrant() {}

    /** Whether a rule in force allows a request as it was made. */
    static boolean isAllowedBy(JsonNode rule, JsonNode request) {
        return RecordedApprovers.isMeant(rule, request.path("subject").asText())
                && List.of("key", "idp", "approvals", "break_glass").stream()
                        .allMatch(column -> rule.path(column).equals(request.path(column)))
                && isTrue(rule, "end_credentials") == isTrue(request, "end_credentials")
                && isTrue(rule, "consent") == isTrue(request, "consent")
                && (!isTrue(request, "consent") || request.hasNonNull("actor"))
                && Votes.people(rule) == Votes.people(request)
                && Votes.steps(rule).equals(Votes.steps(request))
                && fitsPattern(rule, request.path("reason").asText())
                && areFrozen(rule.path("claims"), request.path("claims"))
                && request.path("access").asLong() <= rule.path("max_access").asLong()
                && lapsesInTime(rule, request);
    }

    /**
     * Whether claims are those of a token that met these conditions, of lists the elements that met
     * them: the conditions of the grant.
     */
    private static boolean areFrozen(JsonNode conditions, JsonNode claims) {
        return conditions.size() == claims.size()
                && claims.properties().stream()
                        .allMatch(claim ->
                                conditions.has(claim.getKey())
                                        && isFrozen(
                                                claim.getKey(),
                                                conditions.path(claim.getKey()),
                                                claim.getValue()));
    }

    private static boolean isFrozen(String claim, JsonNode condition, JsonNode value) {
        List<JsonNode> elements = value.isArray() ? value.valueStream().toList() : List.of(value);
        try {
            ClaimConditions one = new ClaimConditions(Map.of(claim, condition));
            return !elements.isEmpty()
                    && elements.stream()
                            .map(element ->
                                    new SeenClaims.OnRecord(
                                            JsonNodeFactory.instance
                                                    .objectNode()
                                                    .set(claim, element)))
                            .allMatch(seen ->
                                    one.areMetBy(seen, MatchingBudget.ofRulesOfAllTenants()));
        } catch (IllegalArgumentException | Unavailable e) {
            // no request meets conditions that can't be evaluated
            return false;
        }
    }

    private static boolean fitsPattern(JsonNode rule, String reason) {
        return !rule.hasNonNull("reason_pattern")
                || new Glob(rule.path("reason_pattern").asText()).matches(reason);
    }

    private static boolean lapsesInTime(JsonNode rule, JsonNode request) {
        Optional<Instant> end =
                time(request, "requested_at")
                        .map(from -> from.plusSeconds(rule.path("expires_after").asLong()));
        return end.isPresent() && end.equals(time(request, "expires_at"));
    }

    /** The column's value. Older rows lack columns that were added later, which count as false. */
    static boolean isTrue(JsonNode row, String column) {
        return row.path(column).asBoolean();
    }

    /** Who made a decision, in the words of {@code approved_by} of a grant. */
    static String named(JsonNode decision) {
        String who =
                decision.hasNonNull("decided_by")
                        ? decision.path("decided_by").asText()
                        : "%s of %s"
                                .formatted(
                                        decision.path("subject").asText(),
                                        decision.path("idp").asText());
        return isTrue(decision, "program") ? who + " (program)" : who;
    }

    /** Whether a grant gives what its request asked for, and not more or later. */
    static boolean isWhatWasAsked(JsonNode grant, JsonNode request, Instant writtenAt) {
        return List.of("key", "idp", "subject", "claims", "actor_idp", "actor").stream()
                        .allMatch(column -> grant.path(column).equals(request.path(column)))
                && grant.path("match").asText().equals("exact")
                && grant.path("actor_claims").isEmpty()
                && grant.path("networks").isEmpty()
                && !beginsAfter(grant, writtenAt)
                && lasts(grant)
                        .equals(Optional.of(Duration.ofSeconds(request.path("access").asLong())));
    }

    private static boolean beginsAfter(JsonNode grant, Instant writtenAt) {
        return time(grant, "valid_from").filter(begin -> begin.isAfter(writtenAt)).isPresent();
    }

    private static Optional<Duration> lasts(JsonNode grant) {
        return time(grant, "valid_from")
                .flatMap(begin ->
                        time(grant, "valid_until").map(end -> Duration.between(begin, end)));
    }

    /** A time in a row; empty for one that can't be read. */
    static Optional<Instant> time(JsonNode row, String column) {
        try {
            return DocumentFields.time(row, column);
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /** Whether a change of a request left what it asked for. */
    static boolean asksTheSame(JsonNode before, JsonNode after) {
        return asked(before, after).equals(asked(after, after));
    }

    /**
     * The columns of a request that never change. Only its grant fixes the end of a break glass.
     */
    private static ObjectNode asked(JsonNode request, JsonNode after) {
        ObjectNode asked = request.deepCopy();
        asked.remove(STATUS);
        if (RequestedGrant.isTrue(after, "break_glass") && after.hasNonNull("grant_id")) {
            asked.remove("expires_at");
        }
        return asked;
    }

    /** Why a grant names others as its approvers than its request has; empty if it names these. */
    static Optional<String> wronglyNamed(JsonNode grant, Collection<String> names) {
        String named = grant.path("approved_by").asText("");
        String approved = String.join(", ", names);
        return named.equals(approved)
                ? Optional.empty()
                : Optional.of(
                        "it names the approvers '%s', but the approvers were '%s'"
                                .formatted(named, approved));
    }
}
