package io.mintmark.console.pages.history;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.console.pages.history.Change.Difference;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** A change of a row in words, to be read after the login that made it. */
final class ChangeSentence {
    private static final String ENABLED = "enabled";
    private static final int LISTED = 4;
    private static final int SHORT = 60;

    /** The number of characters of a name that is shown whole, and of the end of a longer one. */
    private static final int LONG = 120;

    private static final int END = 30;

    private static final DateTimeFormatter DAY =
            DateTimeFormatter.ofPattern("d MMM uuuu", Locale.ENGLISH).withZone(ZoneOffset.UTC);

    private static final DateTimeFormatter CLOCK =
            DateTimeFormatter.ofPattern("d MMM uuuu, HH:mm 'UTC'", Locale.ENGLISH)
                    .withZone(ZoneOffset.UTC);

    /** The maximum duration that is given with the hour of its end. */
    private static final Duration HOURS = Duration.ofDays(2);

    private final String table;
    private final String id;
    private final JsonNode row;
    private final List<Difference> differences;
    private final Referenced referenced;

    private ChangeSentence(
            String table,
            String id,
            JsonNode row,
            List<Difference> differences,
            Referenced referenced) {
        this.table = table;
        this.id = id;
        this.row = row;
        this.differences = differences;
        this.referenced = referenced;
    }

    /**
     * The sentence of a change.
     *
     * @param row as it is after the change, or was before it was deleted
     * @param referenced what the row is about, where it names another row
     */
    static String of(
            String operation,
            String table,
            String id,
            JsonNode row,
            List<Difference> differences,
            Referenced referenced) {
        ChangeSentence sentence = new ChangeSentence(table, id, row, differences, referenced);
        return switch (operation) {
            case "INSERT" -> sentence.added();
            case "DELETE" -> "deleted " + sentence.named();
            default -> sentence.changed();
        };
    }

    private String added() {
        return switch (table) {
            case "subject_grant" ->
                    "let %s mint %s%s%s"
                            .formatted(parties(), text("key"), until(), disabled(": disabled"));
            case "blocked_subject" -> "blocked %s%s".formatted(text("subject"), until());
            case "grant_review" -> "reviewed %s: %s".formatted(reviewedGrant(), text("verdict"));
            case "access_decision" ->
                    "%s %s".formatted(Verdicts.past(text("verdict")), decidedRequest());
            case "access_request" ->
                    "%s key %s: %s"
                            .formatted(
                                    row.path("break_glass").asBoolean()
                                            ? "used break glass for"
                                            : "asked for",
                                    text("key"),
                                    beginning(text("reason")));
            case "access_rule" ->
                    "let %s %s key %s%s"
                            .formatted(
                                    text("subject"),
                                    row.path("break_glass").asBoolean()
                                            ? "use break glass for"
                                            : "ask for",
                                    text("key"),
                                    disabled(": disabled"));
            case "access_approver" ->
                    "made %s an approver of %s".formatted(approver(), approvedRule());
            case "ended_credential" ->
                    "had the credential of mint %s revoked".formatted(text("mint_id"));
            case "identity_provider" ->
                    "trusted %s as identity provider %s".formatted(text("issuer"), id);
            case "access_provider" ->
                    "added access provider %s of type %s".formatted(id, text("type"));
            case "key" -> "added key %s at %s".formatted(id, text("provider"));
            case "tenant" -> "created tenant " + id;
            case "tenant_admin" -> "made %s an admin of the tenant".formatted(id);
            case "console_access" ->
                    "let viewers with %s %s see %s"
                            .formatted(
                                    text("claim"),
                                    row.path("value"),
                                    row.path("all_tenants").asBoolean()
                                            ? "all tenants"
                                            : "the tenant");
            case "role_member" ->
                    "recorded that %s is a member of %s"
                            .formatted(text("member"), text("role_name"));
            default -> "added " + named();
        };
    }

    private String changed() {
        List<Difference> others =
                differences.stream().filter(one -> !one.member().equals(ENABLED)).toList();
        if (differences.size() > others.size()) {
            return (row.path(ENABLED).asBoolean() ? "enabled " : "disabled ")
                    + named()
                    + (others.isEmpty() ? "" : ", and changed " + members(others));
        }
        if (table.equals("access_request") && differs("status")) {
            if (text("status").equals("withdrawn")) {
                return row.hasNonNull("withdrawn_by")
                        ? "withdrew the access of %s to key %s"
                                .formatted(text("subject"), text("key"))
                        : "withdrew the request for key " + text("key");
            }
            String became =
                    switch (text("status")) {
                        case "lapsed" -> "lapsed";
                        case "void" -> "became void";
                        default -> "was " + text("status");
                    };
            return "The request of %s for key %s %s"
                    .formatted(text("subject"), text("key"), became);
        }
        return others.isEmpty()
                ? "wrote %s again".formatted(named())
                : "changed %s of %s".formatted(members(others), named());
    }

    private boolean differs(String member) {
        return differences.stream().anyMatch(one -> one.member().equals(member));
    }

    private String members(List<Difference> changes) {
        if (changes.size() == 1 && isShort(changes.getFirst())) {
            Difference one = changes.getFirst();
            return "%s from %s to %s"
                    .formatted(
                            one.member(),
                            one.before().orElse("nothing"),
                            one.after().orElse("nothing"));
        }
        String names =
                changes.stream()
                        .limit(LISTED)
                        .map(Difference::member)
                        .collect(Collectors.joining(", "));
        return changes.size() > LISTED ? names + " and more" : names;
    }

    private static boolean isShort(Difference one) {
        return one.before().orElse("").length() + one.after().orElse("").length() <= SHORT
                && one.before().orElse("").lines().count() <= 1
                && one.after().orElse("").lines().count() <= 1;
    }

    /** The row's name in a sentence. */
    private String named() {
        return switch (table) {
            case "subject_grant" -> "grant %s (%s mints %s)".formatted(id, parties(), text("key"));
            case "blocked_subject" -> "the block of " + text("subject");
            case "grant_review" -> "the review of " + reviewedGrant();
            case "access_approver" -> "approver %s of %s".formatted(approver(), approvedRule());
            case "known_issuer" -> "known issuer %s (%s)".formatted(text("name"), id);
            case "role_member" -> "the membership of %s in %s".formatted(id, text("role_name"));
            case "access_request" ->
                    "the request of %s for key %s".formatted(text("subject"), text("key"));
            default -> "%s %s".formatted(table.replace('_', ' '), id);
        };
    }

    private String reviewedGrant() {
        String number = text("grant_id");
        return referenced
                .subject("grant", number)
                .map(of -> "grant %s (%s mints %s)".formatted(number, cut(of.name()), of.key()))
                .orElse("grant " + number);
    }

    private String decidedRequest() {
        String request = text("request");
        return referenced
                .subject("request", request)
                .map(of -> "the request of %s for key %s".formatted(cut(of.name()), of.key()))
                .orElse("request %s for access".formatted(request));
    }

    private String approvedRule() {
        String number = text("rule");
        return referenced
                .subject("rule", number)
                .map(of -> "rule %s (%s asks for %s)".formatted(number, cut(of.name()), of.key()))
                .orElse("rule " + number);
    }

    private String approver() {
        return row.path("role_name").isTextual() ? text("role_name") : text("subject");
    }

    /** The subject, and who acts for it. */
    private String parties() {
        return row.path("actor").isTextual()
                ? "%s for %s".formatted(text("actor"), text("subject"))
                : text("subject");
    }

    /** The end of an access: a time for a few hours, otherwise a day. */
    private String until() {
        Optional<Instant> begins = time("valid_from");
        Optional<Instant> ends = time("valid_until");
        if (begins.isPresent()
                && ends.isPresent()
                && Duration.between(begins.get(), ends.get()).compareTo(HOURS) < 0) {
            return " until " + CLOCK.format(ends.get());
        }
        for (String end : List.of("valid_until", "until")) {
            if (row.path(end).isTextual()) {
                return " until " + day(row.path(end).asText());
            }
        }
        return "";
    }

    private String disabled(String words) {
        return row.path(ENABLED).asBoolean(true) ? "" : words;
    }

    private static String day(String time) {
        return parsed(time).map(DAY::format).orElse(time);
    }

    private Optional<Instant> time(String member) {
        return parsed(row.path(member).asText(""));
    }

    private static Optional<Instant> parsed(String time) {
        try {
            return Optional.of(DateTimeFormatter.ISO_OFFSET_DATE_TIME.parse(time, Instant::from));
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }

    private static String beginning(String text) {
        return text.length() <= SHORT
                ? text
                : text.substring(0, text.offsetByCodePoints(0, text.codePointCount(0, SHORT)))
                        + "…";
    }

    private String text(String member) {
        return cut(row.path(member).asText("?"));
    }

    /** A name of a thousand characters would fill the page: names differ at their ends. */
    private static String cut(String name) {
        int length = name.codePointCount(0, name.length());
        return length <= LONG
                ? name
                : name.substring(0, name.offsetByCodePoints(0, SHORT))
                        + "…"
                        + name.substring(name.offsetByCodePoints(0, length - END));
    }
}
