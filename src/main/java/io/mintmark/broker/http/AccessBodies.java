package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.audit.canonical.StorableText;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.approval.AccessRequest.RowRevisions;
import io.mintmark.broker.approval.AccessRequests.Choice;
import io.mintmark.broker.exchange.Approvals.Wish;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** The bodies of requests for access (HTTP API section 4.12). */
final class AccessBodies {
    /** More than the database accepts; it says what it does. */
    private static final int LONGEST_TEXT = 4_096;

    private static final Set<String> OF_WISH =
            Set.of("keys", "reason", "seconds", "breakGlass", TokenPlaces.MEMBER);
    private static final Set<String> OF_DECISION =
            Set.of("verdict", "note", "revisions", TokenPlaces.MEMBER);
    private static final Set<String> OF_REVISIONS = Set.of("rule", "key", "accessProvider");

    private AccessBodies() {}

    /**
     * A body with what it says.
     *
     * @param members what was sent, in which the token may be
     */
    record Body<T>(JsonNode members, T content) {}

    /**
     * What somebody says to a request.
     *
     * @param note why; empty for no note
     * @param shown the revisions of what the person was shown
     */
    record Decided(Choice choice, String note, Optional<RowRevisions> shown) {}

    static Verdict<Body<Wish>> wish(byte[] bytes) {
        return JsonMembers.of(
                        bytes, OF_WISH, "{\"keys\": [\"…\"], \"reason\": \"…\", \"seconds\": 3600}")
                .then(body -> wish(body).map(wish -> new Body<>(body, wish)));
    }

    private static Verdict<Wish> wish(JsonNode body) {
        JsonNode breakGlass = body.path("breakGlass");
        if (!breakGlass.isMissingNode() && !breakGlass.isBoolean()) {
            return JsonMembers.bad("breakGlass", "'breakGlass' must be true or false.");
        }
        return JsonMembers.keys(body.path("keys"))
                .then(keys ->
                        text(body, "reason", true)
                                .then(reason ->
                                        seconds(body.path("seconds"))
                                                .map(access ->
                                                        new Wish(
                                                                keys,
                                                                reason,
                                                                access,
                                                                breakGlass.asBoolean()))));
    }

    private static Verdict<Duration> seconds(JsonNode given) {
        return given.isIntegralNumber() && given.canConvertToInt() && given.intValue() > 0
                ? Verdict.passed(Duration.ofSeconds(given.intValue()))
                : JsonMembers.bad(
                        "seconds",
                        "'seconds' must be a whole number of seconds of access, for example 3600.");
    }

    static Verdict<Body<Decided>> decision(byte[] bytes) {
        return JsonMembers.of(bytes, OF_DECISION, "{\"verdict\": \"approve\"}")
                .then(body ->
                        choice(body.path("verdict"))
                                .then(choice ->
                                        text(body, "note", false)
                                                .then(note ->
                                                        revisions(body.path("revisions"))
                                                                .map(shown ->
                                                                        new Body<>(
                                                                                body,
                                                                                new Decided(
                                                                                        choice,
                                                                                        note,
                                                                                        shown))))));
    }

    private static Verdict<Optional<RowRevisions>> revisions(JsonNode given) {
        if (given.isMissingNode()) {
            return Verdict.passed(Optional.empty());
        }
        if (given.size() == OF_REVISIONS.size()
                && OF_REVISIONS.stream().map(given::path).allMatch(AccessBodies::isRevision)) {
            return Verdict.passed(
                    Optional.of(
                            new RowRevisions(
                                    given.path("rule").longValue(),
                                    given.path("key").longValue(),
                                    given.path("accessProvider").longValue())));
        }
        return JsonMembers.bad(
                "revisions",
                "'revisions' must be an object of three numbers, as the request has it:"
                        + " {\"rule\": 17, \"key\": 4, \"accessProvider\": 2}.");
    }

    private static boolean isRevision(JsonNode given) {
        return given.isIntegralNumber() && given.canConvertToLong();
    }

    private static Verdict<Choice> choice(JsonNode given) {
        for (Choice choice : Choice.values()) {
            if (given.isTextual() && choice.word().equals(given.textValue())) {
                return Verdict.passed(choice);
            }
        }
        return JsonMembers.bad(
                "verdict", "'verdict' must be \"approve\", \"refuse\" or \"withdraw\".");
    }

    private static Verdict<String> text(JsonNode body, String member, boolean required) {
        JsonNode given = body.path(member);
        if (given.isTextual()) {
            return Verdict.passed(StorableText.fit(given.textValue(), LONGEST_TEXT));
        }
        return given.isMissingNode() && !required
                ? Verdict.passed("")
                : JsonMembers.bad(member, "'%s' must be a string.".formatted(member));
    }
}
