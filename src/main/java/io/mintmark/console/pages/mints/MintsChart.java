package io.mintmark.console.pages.mints;

import io.mintmark.console.pages.activity.Activity;
import io.mintmark.console.pages.activity.Bins;
import io.mintmark.console.pages.activity.Period;
import io.mintmark.console.pages.mints.MintSearch.Listing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The chart of a search's results over time. */
final class MintsChart {
    private MintsChart() {}

    /**
     * Counted along the log's indexes where they know what is wanted, else from the newest that
     * were listed.
     */
    static Optional<Activity> of(
            Connection connection,
            Wanted wanted,
            Optional<Period> period,
            Listing listing,
            Instant now)
            throws SQLException {
        if (listing.ids().isEmpty()) {
            return Optional.empty();
        }
        Optional<Activity.Scope> scope = wanted.scope();
        if (scope.isPresent()) {
            return Optional.of(
                    Activity.of(connection, scope.get(), bins(wanted, period, listing, now)));
        }
        List<Activity.Event> events =
                listing.newest(connection, Listing.MOST, now).lines().stream()
                        .map(MintsChart::event)
                        .toList();
        Bins all = bins(wanted, period, listing, now);
        return Optional.of(
                Activity.of(
                        listing.isComplete()
                                ? all
                                : Bins.between(events.getLast().at(), end(wanted, now)),
                        events));
    }

    private static Bins bins(Wanted wanted, Optional<Period> period, Listing listing, Instant now) {
        if (period.isPresent()) {
            return period.get().bins(now);
        }
        if (wanted.from().isPresent()) {
            return Bins.between(wanted.from().get(), end(wanted, now));
        }
        return listing.isComplete()
                ? Bins.between(MintSearch.timeOf(listing.ids().getLast()), end(wanted, now))
                : Period.WEEK.bins(end(wanted, now));
    }

    private static Instant end(Wanted wanted, Instant now) {
        return wanted.to().filter(to -> to.isBefore(now)).orElse(now);
    }

    private static Activity.Event event(MintLine line) {
        return new Activity.Event(
                line.at(),
                line.outcome() == MintOutcome.DENIED || line.outcome() == MintOutcome.REJECTED,
                line.outcome() == MintOutcome.FAILED);
    }
}
