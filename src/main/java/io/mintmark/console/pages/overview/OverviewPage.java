package io.mintmark.console.pages.overview;

import io.helidon.webserver.http.ServerRequest;
import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.activity.Activity;
import io.mintmark.console.pages.activity.Chart;
import io.mintmark.console.pages.activity.Count;
import io.mintmark.console.pages.activity.Period;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.TypedTime;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.frame.Visibility;
import io.mintmark.console.pages.history.Change;
import io.mintmark.console.pages.history.LatestPeople;
import io.mintmark.console.pages.mints.MintLine;
import io.mintmark.console.pages.mints.MintOutcome;
import io.mintmark.console.pages.mints.MintSearch;
import io.mintmark.console.pages.mints.Wanted;
import io.mintmark.console.pages.proof.LastCheckpoint;
import io.mintmark.console.pages.proof.RecordedResult;
import io.mintmark.console.verification.Alarm;
import io.mintmark.console.verification.ProofRun;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The overview: is everything all right?
 *
 * @param unresolved mints without outcome that no replica works on any more; one more than are
 *     counted if there are more
 * @param unresolvedSince when the first of all unresolved mints began
 * @param people who made the latest changes
 * @param mints the latest mints and refusals, repeats as one
 * @param alarm the last verification, if it found something
 * @param verification the last one with a result since the console's start
 * @param recorded the last one that was recorded, by any console or the command line; none if the
 *     viewer may see none
 * @param checkpoint the last one; none if the viewer may see none or there is none
 */
public record OverviewPage(
        Period period,
        Activity activity,
        Chart chart,
        Attention attention,
        Living living,
        List<MintLine> unresolved,
        Optional<Instant> unresolvedSince,
        Optional<LastCheckpoint> checkpoint,
        Optional<Alarm> alarm,
        Optional<ProofRun> verification,
        Optional<RecordedResult> recorded,
        boolean seesAll,
        List<MostDenied> denied,
        List<Change> changes,
        List<LatestPeople> people,
        MintSearch.Found mints) {

    static final int COUNTED = 100;
    static final int ENDINGS = 5;
    private static final int SHOWN = 8;
    private static final int LIVING = 5_001;

    private static final String LIVE =
            "SELECT l.credentials, l.counted_all, l.last_ends_at FROM"
                    + " internal.living_credentials(?, ?) AS l";

    /** The oldest mint without an outcome. A mint in progress is younger than unresolved mints. */
    private static final String OLDEST_OPEN =
            "SELECT o.mint_id::text AS mint_id FROM audit.unresolved AS o ORDER BY o.mint_id LIMIT 1";

    /** The credentials that are active. */
    record Living(Count credentials, Optional<Instant> until) {}

    /**
     * The page at {@code /}.
     *
     * @param verification the last one with a result
     */
    public static View view(
            Connection connection,
            ServerRequest request,
            Optional<ProofRun> verification,
            Instant now)
            throws SQLException {
        Period period = Period.of(new Parameters(request)).orElse(Period.DAY);
        return view(connection, period, verification, now);
    }

    /** The overview of a period. */
    public static View view(
            Connection connection, Period period, Optional<ProofRun> verification, Instant now)
            throws SQLException {
        return View.of("Overview", "overview/overview", of(connection, period, verification, now));
    }

    private static OverviewPage of(
            Connection connection, Period period, Optional<ProofRun> verification, Instant now)
            throws SQLException {
        Activity activity =
                Activity.of(connection, Activity.Scope.all(Optional.empty()), period.bins(now));
        List<MintLine> unresolved = unresolved(connection, now);
        return new OverviewPage(
                period,
                activity,
                Chart.of(activity, "/mints"),
                Attention.of(connection),
                living(connection, Optional.empty()),
                unresolved,
                unresolved.isEmpty() ? Optional.empty() : unresolvedSince(connection),
                LastCheckpoint.last(connection),
                Alarm.of(connection, verification),
                verification,
                RecordedResult.last(connection),
                Visibility.seesAll(connection),
                MostDenied.since(connection, activity.since()),
                Change.by(connection, Optional.empty(), TypedTime.Span.NONE, ENDINGS),
                LatestPeople.of(connection),
                MintSearch.folded(connection, Wanted.ofOutcome(Optional.empty()), SHOWN, now));
    }

    private static Living living(Connection connection, Optional<String> tenant)
            throws SQLException {
        return Query.of(LIVE, tenant.orElse(null), LIVING)
                .first(
                        connection,
                        row ->
                                new Living(
                                        Count.of(
                                                row.getLong("credentials"),
                                                row.getBoolean("counted_all")),
                                        Query.timeIfAny(row, "last_ends_at")))
                .orElseThrow();
    }

    private static Optional<Instant> unresolvedSince(Connection connection) throws SQLException {
        return Query.of(OLDEST_OPEN)
                .first(connection, row -> MintSearch.timeOf(row.getString("mint_id")));
    }

    private static List<MintLine> unresolved(Connection connection, Instant now)
            throws SQLException {
        return MintSearch.find(
                        connection, Wanted.ofOutcome(Optional.of("unresolved")), COUNTED, now)
                .lines()
                .stream()
                .filter(line -> line.outcome() == MintOutcome.UNRESOLVED)
                .toList();
    }

    /** The items that need attention, and those that don't. */
    Needs needs(Instant now) {
        return Needs.of(this, now);
    }

    /** Whether the log is sealed in time, and no verification found anything. */
    boolean isSealed(Instant now) {
        return alarm.isEmpty() && checkpoint.filter(last -> !last.isLate(now)).isPresent();
    }

    /** Links to this page of other times. */
    List<Period.Link> links() {
        return Period.links("/", Optional.of(period));
    }

    List<Ending> shownEndings() {
        return attention.endings().stream().limit(ENDINGS).toList();
    }

    /**
     * The state of the log's sealing and the result of its last verification: a sign and a word.
     */
    String verdict(Instant now) {
        if (isWrong()) {
            return "✕ not intact";
        }
        if (checkpoint.isEmpty()) {
            return "? not sealed";
        }
        if (checkpoint.get().isLate(now)) {
            return "◐ sealed late";
        }
        if (alarm.isPresent()) {
            return "◐ not all accepted";
        }
        return verified().isPresent() ? "✓ verified" : "✓ sealed";
    }

    /** Whether the last verification found anything wrong. */
    boolean isWrong() {
        return alarm.filter(Alarm::isWrong).isPresent();
    }

    /** The time of the last verification; empty if none is known. */
    Optional<Instant> verified() {
        return alarm.map(Alarm::begun)
                .or(() -> recorded.map(RecordedResult::began))
                .or(() -> verification.map(ProofRun::begun));
    }

    /** The unresolved ones whose credential, if there is one, may still live. */
    long dangerous(Instant now) {
        return unresolved.stream()
                .filter(line -> line.endedAt().isEmpty())
                .filter(line -> line.expiresAt().filter(end -> end.isAfter(now)).isPresent())
                .count();
    }
}
