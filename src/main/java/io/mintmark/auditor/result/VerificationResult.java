package io.mintmark.auditor.result;

import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.text.VisibleText;
import io.mintmark.auditor.verify.Verification.Summary;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Query;
import io.mintmark.base.start.ProgramVersion;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What a verification of the log found, to be recorded in {@code audit.verification}.
 *
 * @param time that it took
 * @param summary empty if it found something wrong and did not complete
 * @param rows that it read
 * @param wrong how many findings say that something is wrong
 * @param unaccepted how many declarations and doubts were not accepted
 * @param findings the first of them; {@value #FINDINGS} are recorded, each cut
 * @param viewer who began it in the console; empty for the command line
 */
public record VerificationResult(
        Duration time,
        Optional<Summary> summary,
        long rows,
        long wrong,
        long unaccepted,
        List<String> findings,
        Optional<String> viewer) {
    /** The maximum number of findings that are recorded. */
    public static final int FINDINGS = 10;

    private static final int LONGEST_FINDING = 500;
    private static final int LONGEST_VIEWER = 300;
    private static final String SESSION = "-c statement_timeout=5000 -c lock_timeout=1000";

    private static final String RECORD =
            """
            SELECT internal.record_verification(?, cast(? AS bigint), cast(? AS bigint), ?, ?, ?, ?, ?, cast(? AS text))
                   AS refusal
            """;

    /**
     * Records it.
     *
     * @return why it was not recorded, for example on a read-only standby; empty if it was
     */
    public Optional<String> record(DatabaseLogin login) {
        try (Connection connection = login.source("mintmark audit", SESSION).getConnection()) {
            return query().first(connection, row -> Query.text(row, "refusal")).orElseThrow();
        } catch (SQLException e) {
            return Optional.of(
                    String.valueOf(e.getMessage()).lines().findFirst().orElse("unknown error"));
        }
    }

    private Query query() {
        return Query.of(
                RECORD,
                time.toSeconds(),
                summary.map(Summary::last),
                summary.flatMap(Summary::kept).map(SignedCheckpoint::number),
                rows,
                wrong,
                unaccepted,
                findings.stream().limit(FINDINGS).map(one -> cut(one, LONGEST_FINDING)).toList(),
                ProgramVersion.shown(),
                viewer.map(name -> cut(name, LONGEST_VIEWER)));
    }

    /** Findings quote the altered log; characters that a row can't hold are shown as numbers. */
    private static String cut(String text, int longest) {
        String shown = VisibleText.of(text);
        int points = shown.codePointCount(0, shown.length());
        return points <= longest
                ? shown
                : shown.substring(0, shown.offsetByCodePoints(0, longest - 1)) + "…";
    }
}
