package io.mintmark.console.pages.explain;

import io.mintmark.auditor.explain.Explanations;
import io.mintmark.auditor.explain.Explanations.Question;
import io.mintmark.auditor.explain.Explanations.Row;
import io.mintmark.auditor.explain.GivenClaims;
import io.mintmark.console.pages.mint.Mint;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A row for each key of the tenant.
 *
 * @param subject whose token it was about
 */
record ExplainedKeys(String idp, String subject, List<Row> rows) {
    /** Without a key, what is granted first. */
    ExplainedKeys without(String key) {
        return new ExplainedKeys(
                idp,
                subject,
                rows.stream()
                        .filter(row -> !row.key().equals(key))
                        .sorted(Comparator.comparing(row -> !row.granted()))
                        .toList());
    }

    long granted() {
        return rows.stream().filter(Row::granted).count();
    }

    static ExplainedKeys of(Explanations explanations, Mint mint, Optional<Instant> at) {
        return of(
                explanations,
                mint.line().idp().orElse(""),
                mint.line().subject().orElse(""),
                GivenClaims.recorded(mint.origin().claims().orElse("{}")).json(),
                at);
    }

    static ExplainedKeys of(
            Explanations explanations,
            String idp,
            String subject,
            String claims,
            Optional<Instant> at) {
        return new ExplainedKeys(
                idp, subject, explanations.explain(new Question(idp, subject, claims, at)));
    }
}
