package io.mintmark.console.pages.mints;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Pattern;

/** Finds mints and refusals, the newest first, looking at a bounded number of rows. */
public final class MintSearch {
    private static final String FIND =
            "SELECT f.mint_id::text, f.stopped_at::text FROM internal.find_mints(?, ?, ?, ?, ?,"
                    + " cast(? AS uuid), cast(? AS uuid), ?) AS f";

    private static final Pattern TOKEN_HASH = Pattern.compile("[0-9a-fA-F]{64}");

    /**
     * The result of a search.
     *
     * @param repeats the lines that stand for several, by their ids
     * @param next the mint before which there may be more
     * @param stoppedAt how far back the search got, if it gave up there
     */
    public record Found(
            List<MintLine> lines,
            Map<String, Repeat> repeats,
            Optional<String> next,
            Optional<Instant> stoppedAt) {
        /** Nothing, where nothing was searched. */
        public static final Found NONE =
                new Found(List.of(), Map.of(), Optional.empty(), Optional.empty());
    }

    /**
     * The ids of the newest mints that were found, up to a limit.
     *
     * @param ids one more than the limit if there are more
     * @param stop how far back the search got, if it gave up there
     */
    record Listing(List<String> ids, int limit, Optional<String> stop) {
        /** The maximum number of ids that are counted. */
        static final int MOST = 1_000;

        boolean isComplete() {
            return stop.isEmpty() && !isFull();
        }

        /** Whether there are more than the limit. */
        boolean isFull() {
            return ids.size() > limit;
        }

        /** The ids up to the limit. */
        List<String> counted() {
            return isFull() ? ids.subList(0, limit) : ids;
        }

        /** The ids after a mint, or all, the oldest first. */
        List<String> after(Optional<UUID> mint) {
            return ids.reversed().stream()
                    .filter(id -> mint.isEmpty() || id.compareTo(mint.get().toString()) > 0)
                    .toList();
        }

        /** The newest mints, up to a maximum. */
        Found newest(Connection connection, int most, Instant now) throws SQLException {
            boolean full = ids.size() > most;
            List<String> shown = full ? ids.subList(0, most) : ids;
            return new Found(
                    MintLine.of(connection, shown, now),
                    Map.of(),
                    full ? Optional.of(shown.getLast()) : stop,
                    full ? Optional.empty() : stop.map(MintSearch::timeOf));
        }

        /** The oldest after this mint, at most so many; to be asked of a complete list only. */
        Found oldest(Connection connection, Optional<UUID> after, int most, Instant now)
                throws SQLException {
            List<String> later = after(after);
            boolean full = later.size() > most;
            List<String> shown = full ? later.subList(0, most) : later;
            return new Found(
                    MintLine.of(connection, shown, now).reversed(),
                    Map.of(),
                    full ? Optional.of(shown.getLast()) : Optional.empty(),
                    Optional.empty());
        }
    }

    /** A way to search: the criterion and its value. */
    private record Way(String by, Optional<String> value) {}

    private final Connection connection;
    private final Wanted wanted;
    private final int most;
    private final TreeSet<String> ids = new TreeSet<>(Comparator.reverseOrder());
    private Optional<String> stop = Optional.empty();

    private MintSearch(Connection connection, Wanted wanted, int most) {
        this.connection = connection;
        this.wanted = wanted;
        this.most = most;
    }

    /** Finds the newest mints, up to a maximum. */
    public static Found find(Connection connection, Wanted wanted, int most, Instant now)
            throws SQLException {
        return list(connection, wanted, most).newest(connection, most, now);
    }

    /** Finds the newest mints for a page with a maximum of lines, repeats in one line each. */
    public static Found folded(Connection connection, Wanted wanted, int most, Instant now)
            throws SQLException {
        return Folding.newest(connection, wanted, most, now);
    }

    /** The subjects of the latest mints and refusals that the viewer may see, each once. */
    public static List<String> latestSubjects(Connection connection, int most, Instant now)
            throws SQLException {
        return find(connection, Wanted.ofOutcome(Optional.empty()), most, now).lines().stream()
                .flatMap(line -> line.subject().stream())
                .distinct()
                .toList();
    }

    /** Finds the newest ids, as many as are counted. */
    static Listing list(Connection connection, Wanted wanted) throws SQLException {
        return list(connection, wanted, Listing.MOST);
    }

    /** Finds the newest ids up to a limit. */
    static Listing list(Connection connection, Wanted wanted, int most) throws SQLException {
        MintSearch search = new MintSearch(connection, wanted, most);
        for (Way way : ways(wanted)) {
            search.look(way);
        }
        return search.listing();
    }

    private static List<Way> ways(Wanted wanted) {
        if (wanted.any().isPresent()) {
            return waysOfAny(wanted.any().get());
        }
        if (wanted.subject().isPresent()) {
            return List.of(new Way("subject", wanted.subject()));
        }
        if (wanted.actor().isPresent()) {
            return List.of(new Way("actor", wanted.actor()));
        }
        if (wanted.key().isPresent()) {
            return List.of(new Way("key", wanted.key()));
        }
        if (wanted.isRefusals()) {
            return List.of(new Way("refusal", Optional.empty()));
        }
        if (wanted.isFailures()) {
            return List.of(new Way("failure", Optional.empty()));
        }
        boolean open = wanted.outcome().filter("unresolved"::equals).isPresent();
        return List.of(new Way(open ? "open" : "all", Optional.empty()));
    }

    private static List<Way> waysOfAny(String text) {
        Optional<String> value = Optional.of(text);
        List<Way> ways = new ArrayList<>();
        for (String by : List.of("credential", "request", "subject", "actor", "key")) {
            ways.add(new Way(by, value));
        }
        if (TOKEN_HASH.matcher(text).matches()) {
            ways.add(new Way("token", Optional.of(text.toLowerCase(Locale.ROOT))));
        }
        return ways;
    }

    private void look(Way way) throws SQLException {
        boolean byKey = way.by().equals("key");
        Query.of(
                        FIND,
                        way.by(),
                        way.value().orElse(null),
                        wanted.tenant().orElse(null),
                        (byKey ? way.value() : wanted.key()).orElse(null),
                        wanted.outcome().orElse(null),
                        before().orElse(null),
                        wanted.from().map(MintSearch::firstId).orElse(null),
                        most + 1)
                .list(
                        connection,
                        row -> {
                            Optional.ofNullable(row.getString("mint_id")).ifPresent(ids::add);
                            Query.text(row, "stopped_at").ifPresent(this::stopAt);
                            return row;
                        });
    }

    private Optional<String> before() {
        Optional<String> end = wanted.to().map(to -> firstId(to.plusMillis(1)));
        Optional<String> page = wanted.before().map(UUID::toString);
        return page.isPresent() && end.isPresent() && page.get().compareTo(end.get()) > 0
                ? end
                : page.or(() -> end);
    }

    /**
     * Ends the page where a search gave up, because older rows of another search would leave gaps.
     */
    private void stopAt(String id) {
        if (stop.isEmpty() || stop.get().compareTo(id) < 0) {
            stop = Optional.of(id);
        }
    }

    private Listing listing() {
        return new Listing(
                ids.stream().filter(id -> stop.isEmpty() || id.compareTo(stop.get()) >= 0).toList(),
                most,
                stop);
    }

    /** The smallest mint id of a time. */
    private static String firstId(Instant at) {
        return new UUID(at.toEpochMilli() << 16, 0).toString();
    }

    /** The time of a mint id. */
    public static Instant timeOf(String id) {
        return Instant.ofEpochMilli(UUID.fromString(id).getMostSignificantBits() >>> 16);
    }
}
