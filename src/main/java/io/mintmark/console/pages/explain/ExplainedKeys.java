package io.mintmark.console.pages.explain;

import io.mintmark.auditor.explain.Explanations;
import io.mintmark.auditor.explain.Explanations.Actor;
import io.mintmark.auditor.explain.Explanations.Condition;
import io.mintmark.auditor.explain.Explanations.Question;
import io.mintmark.auditor.explain.Explanations.Row;
import io.mintmark.auditor.explain.GivenClaims;
import io.mintmark.console.pages.mint.Mint;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A row for each key of the tenant.
 *
 * @param subject whose token it was about
 * @param conditions of the grants of the first rows, by their ids
 */
record ExplainedKeys(
        String idp, String subject, List<Row> rows, Map<Long, List<Condition>> conditions) {
    /** Grants whose conditions are shown one by one. */
    private static final int SHOWN = 10;

    /** The condition that fails if a grant is for another subject. */
    private static final String SUBJECT = "subject";

    /** The rows except a key's, with granted ones first. */
    ExplainedKeys without(String key) {
        return new ExplainedKeys(
                idp,
                subject,
                rows.stream()
                        .filter(row -> !row.key().equals(key))
                        .sorted(Comparator.comparing(row -> !row.granted()))
                        .toList(),
                conditions);
    }

    /**
     * The rows of granted keys, then those of keys that only a condition other than the subject
     * denies.
     */
    List<Row> near() {
        return rows.stream()
                .filter(row -> !isFar(row))
                .sorted(Comparator.comparing(row -> !row.granted()))
                .toList();
    }

    /** The rows of keys that have no grant for the subject. */
    List<Row> far() {
        return rows.stream().filter(ExplainedKeys::isFar).toList();
    }

    private static boolean isFar(Row row) {
        return !row.granted()
                && (row.grantId().isEmpty() || row.condition().equals(Optional.of(SUBJECT)));
    }

    long granted() {
        return rows.stream().filter(Row::granted).count();
    }

    /** The explanation for a key. */
    Optional<Row> row(Optional<String> key) {
        return rows.stream().filter(row -> key.equals(Optional.of(row.key()))).findFirst();
    }

    /** The conditions of the row's grant; empty if it has none. */
    List<Condition> conditions(Row row) {
        return row.grantId()
                .map(grant -> conditions.getOrDefault(grant, List.of()))
                .orElse(List.of());
    }

    /** The explanation from the claims that are on record for a refusal or a mint. */
    static ExplainedKeys of(Explanations explanations, Mint mint, Optional<Instant> at) {
        return of(
                explanations,
                mint.line().idp().orElse(""),
                mint.line().subject().orElse(""),
                GivenClaims.recorded(mint.origin().claims().orElse("{}")).json(),
                mint.origin().actor(),
                at,
                mint.origin().clientAddress());
    }

    /** Conditions are those of now and of a subject alone: a past moment and an actor have none. */
    static ExplainedKeys of(
            Explanations explanations,
            String idp,
            String subject,
            String claims,
            Optional<Actor> actor,
            Optional<Instant> at,
            Optional<String> address) {
        Question question = new Question(idp, subject, claims, actor, at, address);
        List<Row> rows = explanations.explain(question);
        Map<Long, List<Condition>> conditions =
                at.isPresent() || actor.isPresent()
                        ? Map.of()
                        : explanations.conditions(grants(rows), question).stream()
                                .collect(Collectors.groupingBy(Condition::grant));
        return new ExplainedKeys(idp, subject, rows, conditions);
    }

    private static List<Long> grants(List<Row> rows) {
        return rows.stream()
                .sorted(Comparator.comparing(ExplainedKeys::isFar))
                .flatMap(row -> row.grantId().stream())
                .distinct()
                .limit(SHOWN)
                .toList();
    }
}
