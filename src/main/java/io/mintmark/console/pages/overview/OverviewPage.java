package io.mintmark.console.pages.overview;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.frame.Visibility;
import io.mintmark.console.pages.mints.MintLine;
import io.mintmark.console.pages.mints.MintOutcome;
import io.mintmark.console.pages.mints.MintSearch;
import io.mintmark.console.pages.mints.Wanted;
import io.mintmark.console.pages.proof.LastCheckpoint;
import io.mintmark.console.verification.ProofRun;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The overview.
 *
 * @param unresolved mints without outcome that no replica works on any more; one more than are
 *     counted if there are more
 * @param verification the last one with a result since the console's start
 * @param checkpoint the last one; none if the viewer may see none or there is none
 */
public record OverviewPage(
        Activity activity,
        Living living,
        List<MintLine> unresolved,
        Optional<LastCheckpoint> checkpoint,
        Optional<ProofRun> verification,
        boolean seesAll,
        List<MintLine> refusals,
        List<MintLine> mints,
        List<String> tenants) {

    static final int COUNTED = 100;
    private static final int SHOWN = 5;
    private static final int TENANTS = 12;
    private static final int LIVING = 20_000;

    private static final String LIVE =
            "SELECT l.credentials, l.counted_all, l.last_ends_at FROM"
                    + " internal.living_credentials(?, ?) AS l";

    private static final String TENANT_NAMES =
            "SELECT t.name FROM broker.tenant AS t ORDER BY t.name LIMIT ?";

    /** Credentials that live. */
    record Living(long credentials, boolean counted, Optional<Instant> until) {}

    /**
     * The page at {@code /}.
     *
     * @param verification the last one with a result
     */
    public static View view(Connection connection, Optional<ProofRun> verification, Instant now)
            throws SQLException {
        return View.of("Overview", "overview/overview", of(connection, verification, now));
    }

    private static OverviewPage of(
            Connection connection, Optional<ProofRun> verification, Instant now)
            throws SQLException {
        return new OverviewPage(
                Activity.of(connection, Optional.empty(), now),
                living(connection, Optional.empty()),
                unresolved(connection, now),
                LastCheckpoint.last(connection),
                verification,
                Visibility.seesAll(connection),
                latest(connection, Optional.of("denied"), now),
                latest(connection, Optional.empty(), now),
                Query.of(TENANT_NAMES, TENANTS + 1).list(connection, row -> row.getString("name")));
    }

    private static Living living(Connection connection, Optional<String> tenant)
            throws SQLException {
        return Query.of(LIVE, tenant.orElse(null), LIVING)
                .first(
                        connection,
                        row ->
                                new Living(
                                        row.getLong("credentials"),
                                        row.getBoolean("counted_all"),
                                        Query.timeIfAny(row, "last_ends_at")))
                .orElseThrow();
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

    private static List<MintLine> latest(
            Connection connection, Optional<String> outcome, Instant now) throws SQLException {
        return MintSearch.find(connection, Wanted.ofOutcome(outcome), SHOWN, now).lines();
    }

    /** The class of the tile that says how far the log is sealed, and what its proof said. */
    @Nullable String sealing(Instant now) {
        if (verification.filter(ProofRun::isWrong).isPresent()) {
            return "bad";
        }
        return checkpoint.isEmpty() || checkpoint.get().isLate(now) ? "attention" : null;
    }

    /** The unresolved ones whose credential, if there is one, may still live. */
    long dangerous(Instant now) {
        return unresolved.stream()
                .filter(line -> line.endedAt().isEmpty())
                .filter(line -> line.expiresAt().filter(end -> end.isAfter(now)).isPresent())
                .count();
    }
}
