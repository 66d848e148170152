package io.mintmark.console.pages.mints;

import io.mintmark.console.pages.mints.MintSearch.Found;
import io.mintmark.console.pages.mints.MintSearch.Listing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A page of a list whose repeats are one line each. A page has all rows of a part of the list, so
 * that the next page begins after its last row, and no row is on two pages.
 */
final class Folding {
    /** The maximum number of rows that a page folds. */
    static final int READ = 5_000;

    /** The rows that are first read for a page. */
    private static final int FEW = 100;

    private final List<Repeat> repeats = new ArrayList<>();
    private final int most;
    private int read;
    private Optional<MintLine> last = Optional.empty();

    private Folding(int most) {
        this.most = most;
    }

    /** The newest that are found, with as many lines as a page has. */
    static Found newest(Connection connection, Wanted wanted, int most, Instant now)
            throws SQLException {
        return newest(connection, wanted, MintSearch.list(connection, wanted, FEW), most, now);
    }

    /**
     * Folds the newest that are found, beginning with ids that were read already.
     *
     * @param first the newest ids of the search, which may be too few for a page
     */
    static Found newest(Connection connection, Wanted wanted, Listing first, int most, Instant now)
            throws SQLException {
        Folding page = new Folding(most);
        Listing listing = first;
        while (page.takes(connection, listing.counted(), now)) {
            if (!listing.isFull()) {
                return page.found(listing.stop(), listing.stop().map(MintSearch::timeOf));
            }
            if (page.read >= READ) {
                return page.found(Optional.of(listing.counted().getLast()), Optional.empty());
            }
            Wanted older = wanted.olderThan(UUID.fromString(listing.counted().getLast()));
            listing = MintSearch.list(connection, older, Listing.MOST);
        }
        return page.found(page.last.map(MintLine::id), Optional.empty());
    }

    /** The oldest of a complete list after a mint. */
    static Found oldest(
            Connection connection, Listing listing, Optional<UUID> after, int most, Instant now)
            throws SQLException {
        Folding page = new Folding(most);
        boolean all = page.takes(connection, listing.after(after), now);
        return page.found(all ? Optional.empty() : page.last.map(MintLine::id), Optional.empty());
    }

    /** Adds rows, and returns whether the page has room for all of them. */
    private boolean takes(Connection connection, List<String> ids, Instant now)
            throws SQLException {
        for (int from = 0; from < ids.size(); from += FEW) {
            List<String> some = ids.subList(from, Math.min(from + FEW, ids.size()));
            List<MintLine> lines = MintLine.of(connection, some, now);
            boolean oldestFirst = some.getFirst().compareTo(some.getLast()) < 0;
            for (MintLine line : oldestFirst ? lines.reversed() : lines) {
                if (!takes(line)) {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean takes(MintLine line) {
        for (int at = repeats.size() - 1; at >= 0; at--) {
            if (repeats.get(at).takes(line)) {
                repeats.set(at, repeats.get(at).and(line));
                return isRead(line);
            }
        }
        return repeats.size() < most && repeats.add(Repeat.of(line)) && isRead(line);
    }

    private boolean isRead(MintLine line) {
        read++;
        last = Optional.of(line);
        return true;
    }

    private Found found(Optional<String> next, Optional<Instant> stoppedAt) {
        List<Repeat> shown =
                next.isEmpty() || last.isEmpty()
                        ? repeats
                        : repeats.stream()
                                .map(repeat -> repeat.continuedAfter(last.get().at()))
                                .toList();
        Map<String, Repeat> byId =
                shown.stream()
                        .filter(repeat -> !repeat.isOne())
                        .collect(
                                Collectors.toMap(
                                        repeat -> repeat.shown().id(), Function.identity()));
        return new Found(shown.stream().map(Repeat::shown).toList(), byId, next, stoppedAt);
    }
}
