package io.mintmark.console.pages.proof;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.verification.Finding;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The result of a verification, as the login that ran it recorded it. It survives restarts, and
 * every console shows it.
 *
 * @param id its number
 * @param verdict intact, wrong or unaccepted
 * @param checkpoint the last valid one; empty if the verification did not complete
 * @param kept the newest checkpoint from outside the database; empty if none was compared
 * @param viewer who began it in a console; empty for the command line
 */
public record RecordedResult(
        long id,
        Instant began,
        Instant recorded,
        String verdict,
        Optional<Long> checkpoint,
        Optional<Long> kept,
        long rows,
        long wrong,
        long unaccepted,
        List<String> findings,
        String login,
        Optional<String> viewer) {
    /** Selects results for viewers of all tenants. Row-level security shows none to others. */
    private static final String RESULTS =
            """
            SELECT v.id, v.began_at, v.recorded_at, v.verdict, v.checkpoint, v.kept_checkpoint,
                   v.rows_read, v.wrong, v.unaccepted, v.findings, v.login, v.viewer
              FROM audit.verification AS v
            """;

    /** The newest results, newest first. */
    static List<RecordedResult> latest(Connection connection, int most) throws SQLException {
        return Query.of(RESULTS + "ORDER BY v.id DESC LIMIT ?", most)
                .list(connection, RecordedResult::of);
    }

    /** The newest result, if there is one and the viewer may see it. */
    public static Optional<RecordedResult> last(Connection connection) throws SQLException {
        return latest(connection, 1).stream().findFirst();
    }

    /** The result with a number, if the viewer may see it. */
    static Optional<RecordedResult> numbered(Connection connection, long id) throws SQLException {
        return Query.of(RESULTS + "WHERE v.id = ?", id).first(connection, RecordedResult::of);
    }

    private static RecordedResult of(ResultSet row) throws SQLException {
        return new RecordedResult(
                row.getLong("id"),
                Query.time(row, "began_at"),
                Query.time(row, "recorded_at"),
                row.getString("verdict"),
                Query.number(row, "checkpoint"),
                Query.number(row, "kept_checkpoint"),
                row.getLong("rows_read"),
                row.getLong("wrong"),
                row.getLong("unaccepted"),
                Query.texts(row, "findings"),
                row.getString("login"),
                Query.text(row, "viewer"));
    }

    /** Whether the verification found anything wrong. */
    public boolean isWrong() {
        return verdict.equals("wrong");
    }

    /** The CSS class of the verdict. */
    String style() {
        return isWrong() ? "bad" : isClean() ? "clean" : "attention";
    }

    /** The verdict's sign, so that verdicts don't differ by colour alone. */
    String sign() {
        return isWrong() ? "✕" : isClean() ? "✓" : "◐";
    }

    private boolean isClean() {
        return verdict.equals("intact");
    }

    /** The result in words, such as "Intact up to checkpoint 812". */
    String sentence() {
        String reach =
                checkpoint.map(number -> " up to checkpoint " + Frame.number(number)).orElse("");
        return isWrong()
                ? "NOT intact: " + Frame.count(wrong, "finding")
                : isClean()
                        ? "Intact" + reach
                        : "Intact%s, but %s not accepted"
                                .formatted(
                                        reach,
                                        Frame.count(
                                                unaccepted,
                                                "declaration or doubt is",
                                                "declarations or doubts are"));
    }

    /** The verifier, such as "the command line, login audit_reader". */
    String by() {
        return viewer.map(name -> "%s in a console, login %s".formatted(name, login))
                .orElse("the command line, login " + login);
    }

    /** The reason why this result is shown although there are later ones. */
    String uncleared() {
        return "An earlier result that no verification of login %s has cleared".formatted(login);
    }

    /** The findings that were recorded, with links to the rows that they name. */
    List<FindingLine> lines() {
        Finding.Kind kind = isWrong() ? Finding.Kind.WRONG : Finding.Kind.DECLARED;
        return findings.stream().map(one -> FindingLine.of(new Finding(kind, one))).toList();
    }
}
