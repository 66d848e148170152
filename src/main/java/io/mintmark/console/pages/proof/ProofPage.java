package io.mintmark.console.pages.proof;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Folded;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.frame.Visibility;
import io.mintmark.console.verification.Alarm;
import io.mintmark.console.verification.Proof;
import io.mintmark.console.verification.ProofRun;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/**
 * Whether the log is intact.
 *
 * @param checkpoints the newest first, one more than are shown if there are more
 * @param cosignatures the last one of each witness
 * @param auditKey the key of the last checkpoint
 * @param before show checkpoints before this number; none: the last ones
 * @param extent how far the last checkpoint covers the log
 * @param bar the log as a bar; none without rows
 * @param expected the approximate number of rows of a verification
 * @param since rows that were written since the last verification began, if one has ended
 * @param run the one in progress, or the last
 * @param failed an earlier one that failed, and no later one passed
 * @param alarm the recorded result that all pages show, if it is one
 * @param recorded the last results, by any console or the command line
 * @param possible whether the console has trusted keys
 * @param trusted their ids
 */
public record ProofPage(
        List<CheckpointLine> checkpoints,
        List<CosignatureLine> cosignatures,
        Optional<SignerAge> auditKey,
        Optional<Long> before,
        LogExtent extent,
        Optional<LogBar> bar,
        long expected,
        Optional<LogExtent.Rows> since,
        Optional<ProofRun> run,
        Optional<ProofRun> failed,
        Optional<RecordedResult> alarm,
        List<RecordedResult> recorded,
        boolean possible,
        List<String> trusted) {
    static final int MOST = 20;
    private static final int RESULTS = 10;
    private static final int RESULTS_UNFOLDED = 3;
    private static final int SOON = 5;
    private static final int EVIDENCE_DAYS = 90;

    /** The planner's estimate; counting millions of rows would take too long. */
    private static final String ESTIMATE =
            """
            SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint AS rows
              FROM pg_catalog.pg_class AS c
              JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
             WHERE n.nspname = 'log' AND c.relkind = 'r' AND (c.relname = 'config_change' OR c.relname LIKE 'event\\_%' AND c.relispartition)
            """;

    /** The page at {@code /proof}, for viewers of all tenants. */
    public static View view(Connection connection, ServerRequest request, Proof proof)
            throws SQLException {
        return Visibility.seesAll(connection)
                ? View.of(
                        "Proof",
                        "proof/proof",
                        of(connection, proof, new Parameters(request).number("before")))
                : onlyForAll();
    }

    /** The refusal of a page that needs access to all tenants. */
    static View onlyForAll() {
        return View.message(
                403,
                "No access to the proof",
                "The proof covers the whole log, so it needs access to all tenants.",
                "Ask an auditor, or verify an export: mintmark audit verify --export.");
    }

    private static ProofPage of(Connection connection, Proof proof, Optional<Long> before)
            throws SQLException {
        Optional<ProofRun> last = proof.last();
        Optional<ProofRun> run = last.map(ProofRun::asItIs);
        Optional<ProofRun> ended = run.filter(one -> one.all().isPresent());
        TrustedKeys keys = proof.trusted();
        List<String> trusted = keys.ids();
        LogExtent extent = LogExtent.of(connection);
        List<RecordedResult> recorded = RecordedResult.latest(connection, RESULTS);
        List<SignedCheckpoint> announcements = CheckpointLine.announcements(connection);
        return new ProofPage(
                CheckpointLine.latest(
                        connection, before.orElse(Long.MAX_VALUE), MOST + 1, keys, announcements),
                CosignatureLine.latest(connection),
                SignerAge.of(connection, announcements),
                before,
                extent,
                LogBar.of(connection, extent, run, newest(recorded, run)),
                expected(connection, run),
                ended.isPresent()
                        ? Optional.of(LogExtent.since(connection, ended.get().begun()))
                        : Optional.empty(),
                run,
                proof.failed().filter(failed -> !last.equals(Optional.of(failed))),
                alarm(connection, proof),
                recorded,
                proof.isPossible(),
                trusted);
    }

    Folded<RecordedResult> foldedResults() {
        return Folded.of(recorded, RESULTS_UNFOLDED);
    }

    /** The last recorded one, unless this console has run one since and shows that. */
    Optional<RecordedResult> newest() {
        return newest(recorded, run);
    }

    private static Optional<RecordedResult> newest(
            List<RecordedResult> recorded, Optional<ProofRun> run) {
        return recorded.stream().findFirst().filter(result -> !isOlder(result, run));
    }

    /** Whether it was there when the run ended, or is of an earlier run that was recorded late. */
    private static boolean isOlder(RecordedResult result, Optional<ProofRun> run) {
        return run.filter(one ->
                        one.end()
                                .filter(end ->
                                        !result.recorded().isAfter(end.at())
                                                || result.began().isBefore(one.begun()))
                                .isPresent())
                .isPresent();
    }

    private static Optional<RecordedResult> alarm(Connection connection, Proof proof)
            throws SQLException {
        Optional<Long> id = Alarm.of(connection, proof.conclusive()).flatMap(Alarm::id);
        return id.isEmpty() ? Optional.empty() : RecordedResult.numbered(connection, id.get());
    }

    /** The recorded result that all pages show, unless it is the newest and stands above. */
    Optional<RecordedResult> earlierAlarm() {
        return alarm.filter(result -> newest().filter(one -> one.id() == result.id()).isEmpty());
    }

    /** The number that a verification counted, or the database's estimate if that is larger. */
    static long expected(Connection connection, Optional<ProofRun> run) throws SQLException {
        long estimate = Query.of(ESTIMATE).first(connection, row -> row.getLong("rows")).orElse(0L);
        return Math.max(estimate, run.flatMap(ProofRun::all).orElse(0L));
    }

    /** Seconds until a browser asks again, while a verification is in progress. */
    int refresh() {
        return before.isEmpty() && run.filter(one -> one.end().isEmpty()).isPresent() ? SOON : 0;
    }

    /** The command that writes the evidence of the last quarter, up to now: not into the future. */
    String evidence(Frame frame) {
        LocalDate today = LocalDate.ofInstant(frame.now(), ZoneOffset.UTC);
        Instant now = frame.now().truncatedTo(ChronoUnit.SECONDS);
        return "mintmark audit evidence --from %s --to %s --keys trusted.pem --output evidence-%s"
                .formatted(today.minusDays(EVIDENCE_DAYS), now, today);
    }

    /** The command that verifies the log with the file that this page offers. */
    static String verification(Frame frame) {
        return "mintmark audit verify --keys trusted.pem --checkpoints "
                + CheckpointsFile.name(frame.now());
    }

    List<CheckpointLine> shown() {
        return checkpoints.size() > MOST ? checkpoints.subList(0, MOST) : checkpoints;
    }

    /** The address of the older checkpoints. */
    Optional<String> older() {
        return checkpoints.size() > MOST
                ? Optional.of("/proof?before=%d#checkpoints".formatted(shown().getLast().number()))
                : Optional.empty();
    }

    /** A link to the checkpoints from here on, as a file. */
    String file() {
        return "/proof/checkpoints" + before.map(number -> "?before=" + number).orElse("");
    }

    /**
     * The range of the log of mints and refusals, and how far checkpoints cover it.
     *
     * @param first the oldest row; empty if there is none
     * @param unsealed rows that no checkpoint covers yet
     * @param sealed the last checkpoint; empty if there is none
     */
    record LogExtent(
            Optional<Row> first,
            Optional<Row> last,
            Rows unsealed,
            Optional<LastCheckpoint> sealed) {
        private static final int MOST = 10_000;

        private static final String FIRST =
                "SELECT e.mint_id, e.occurred_at FROM audit.event AS e ORDER BY e.mint_id LIMIT 1";

        private static final String LAST =
                """
                SELECT e.mint_id, e.occurred_at FROM audit.event AS e
                 ORDER BY e.mint_id DESC, e.step DESC LIMIT 1
                """;

        private static final String UNSEALED =
                "SELECT u.unsealed AS rows, u.counted FROM internal.unsealed_rows(?) AS u";

        /** A mint that had begun before may have ended since; none takes longer. */
        private static final Duration LONGEST_MINT = Duration.ofMinutes(2);

        private static final String SINCE =
                """
                SELECT count(*) FILTER (WHERE r.occurred_at >= cast(? AS timestamptz)) AS rows, count(*) <= ? AS counted
                  FROM (SELECT e.occurred_at FROM audit.event AS e
                         WHERE e.mint_id >= audit.first_mint_id(cast(? AS timestamptz))
                         ORDER BY e.mint_id DESC LIMIT ?) AS r
                """;

        record Row(String mint, Instant at) {}

        /**
         * The number of rows.
         *
         * @param counted whether the number is exact
         */
        record Rows(long number, boolean counted) {
            String words() {
                return counted
                        ? Frame.count(number, "row")
                        : "over " + Frame.number(MOST) + " rows";
            }
        }

        static LogExtent of(Connection connection) throws SQLException {
            return new LogExtent(
                    Query.of(FIRST).first(connection, LogExtent::row),
                    Query.of(LAST).first(connection, LogExtent::row),
                    Query.of(UNSEALED, MOST).first(connection, LogExtent::rows).orElseThrow(),
                    LastCheckpoint.last(connection));
        }

        /** The number of rows of mints and refusals since a time. */
        static Rows since(Connection connection, Instant time) throws SQLException {
            return Query.of(SINCE, time, MOST, time.minus(LONGEST_MINT), MOST + 1)
                    .first(connection, LogExtent::rows)
                    .orElseThrow();
        }

        private static Row row(ResultSet row) throws SQLException {
            return new Row(row.getString("mint_id"), Query.time(row, "occurred_at"));
        }

        private static Rows rows(ResultSet row) throws SQLException {
            return new Rows(row.getLong("rows"), row.getBoolean("counted"));
        }
    }
}
