package io.mintmark.console.verification;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What every page shows: the last verification was not clean. A run of this console that failed
 * counts until one of its own passes. A recorded result that something is wrong counts until its
 * own login records one that passes and covers as much, also after a restart: what others recorded
 * as intact is only their word. The newest result of anybody counts if it is not clean.
 *
 * @param isWrong whether anything was wrong; otherwise there are declarations or doubts
 * @param wrongs the number of findings that are wrong
 * @param marked whether a mint's rows are known to be wrong
 * @param id of the result in {@code audit.verification}; empty for a run of this console
 */
public record Alarm(
        boolean isWrong, long wrongs, Instant begun, Predicate<String> marked, Optional<Long> id) {
    private static final String RECORDED =
            """
            SELECT v.id, v.began_at, v.recorded_at, v.wrong, v.findings
              FROM internal.verifications_not_clean() AS v
             ORDER BY v.wrong > 0 DESC, v.own DESC, v.id DESC
            """;

    private record Recorded(Alarm alarm, Instant at) {}

    /**
     * The one to show, if there is any.
     *
     * @param conclusive the last run of this console with a result
     */
    public static Optional<Alarm> of(Connection connection, Optional<ProofRun> conclusive)
            throws SQLException {
        Optional<Alarm> own = conclusive.filter(run -> !run.isClean()).map(Alarm::of);
        if (own.isPresent()) {
            return own;
        }
        Instant passed =
                conclusive.flatMap(ProofRun::end).map(ProofRun.End::at).orElse(Instant.MIN);
        return Query.of(RECORDED).list(connection, Alarm::of).stream()
                .filter(result -> result.alarm().isWrong() || result.at().isAfter(passed))
                .map(Recorded::alarm)
                .findFirst();
    }

    private static Alarm of(ProofRun run) {
        return new Alarm(run.isWrong(), run.wrongs(), run.begun(), run::isWrong, Optional.empty());
    }

    private static Recorded of(ResultSet row) throws SQLException {
        long wrongs = row.getLong("wrong");
        List<String> mints =
                Query.texts(row, "findings").stream()
                        .map(sentence -> new Finding(Finding.Kind.WRONG, sentence))
                        .flatMap(finding -> finding.mint().stream())
                        .toList();
        return new Recorded(
                new Alarm(
                        wrongs > 0,
                        wrongs,
                        Query.time(row, "began_at"),
                        mint -> wrongs > 0 && mints.contains(mint),
                        Optional.of(row.getLong("id"))),
                Query.time(row, "recorded_at"));
    }
}
