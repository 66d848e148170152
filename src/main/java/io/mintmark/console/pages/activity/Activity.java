package io.mintmark.console.pages.activity;

import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Mints, denials and failures in the parts of a time range.
 *
 * @param parts the oldest first
 * @param each the width of a part in words
 */
public record Activity(List<Part> parts, String each) {
    /** Rows that are first read for all parts together; parts that have more are read further. */
    private static final int READ = 24_000;

    private static final int READ_OF_ONE = 8_000;
    private static final int READ_BRIEFLY = 2_400;

    /** Parts that a chart has at least: fewer bars would be wider than they are high. */
    private static final int FEWEST = 7;

    private static final String COUNTS =
            """
            SELECT a.part, a.mints, a.refusals, a.failures, a.more_mints, a.more_refusals, a.more_failures
              FROM internal.activity(?, ?, ?, cast(? AS timestamptz),
                                     cast(? AS double precision) * interval '1 second', ?, ?) AS a
             ORDER BY a.part
            """;

    private static final String BEGINS = "SELECT internal.log_begins(?) AS begins";

    private static final String COUNTS_OF_TENANTS =
            """
            SELECT a.tenant, a.part, a.mints, a.refusals, a.failures, a.more_mints, a.more_refusals, a.more_failures
              FROM internal.activity_of_tenants(cast(? AS text[]), cast(? AS timestamptz),
                                                cast(? AS double precision) * interval '1 second', ?, ?) AS a
            """;

    /**
     * What is counted.
     *
     * @param by all, subject or key
     * @param value the subject or the key
     * @param tenant none: all that the viewer may see
     * @param rows that are first read
     */
    public record Scope(String by, Optional<String> value, Optional<String> tenant, int rows) {
        /** All mints, or a tenant's. */
        public static Scope all(Optional<String> tenant) {
            return new Scope("all", Optional.empty(), tenant, READ);
        }

        /** A key's mints, of one tenant or of all that have a key of the name. */
        public static Scope key(Optional<String> tenant, String key) {
            return new Scope("key", Optional.of(key), tenant, READ_OF_ONE);
        }

        /** A subject's mints. */
        public static Scope subject(Optional<String> tenant, String subject) {
            return new Scope("subject", Optional.of(subject), tenant, READ_OF_ONE);
        }
    }

    /**
     * A part of the range.
     *
     * @param to exclusive
     * @param mints begun, those that failed included
     * @param refusals denials, and tokens that were rejected
     */
    public record Part(Instant from, Instant to, Count mints, Count refusals, Count failures) {
        static Part empty(Instant from, Instant to) {
            return new Part(from, to, Count.NONE, Count.NONE, Count.NONE);
        }

        long minted() {
            return mints.number();
        }

        long wrong() {
            return refusals.number() + failures.number();
        }

        private Part and(Count mints, Count refusals, Count failures) {
            return new Part(
                    from,
                    to,
                    this.mints.and(mints),
                    this.refusals.and(refusals),
                    this.failures.and(failures));
        }
    }

    /**
     * Counts what the viewer may see in each part of a range. Without the parts before the first
     * row on record, which a chart has nothing to show for.
     */
    public static Activity of(Connection connection, Scope scope, Bins bins) throws SQLException {
        List<Part> parts = empty(bins);
        Query.of(
                        COUNTS,
                        scope.by(),
                        scope.value().orElse(null),
                        scope.tenant().orElse(null),
                        bins.since(),
                        (double) bins.width().toSeconds(),
                        bins.number(),
                        scope.rows() / bins.number())
                .each(connection, row -> add(parts, row.getInt("part"), row));
        Optional<Instant> begins =
                Query.of(BEGINS, scope.tenant().orElse(null))
                        .first(connection, row -> Query.timeIfAny(row, "begins"))
                        .flatMap(Function.identity());
        return new Activity(since(parts, begins), width(bins.width()));
    }

    /** The parts without those that end before the log's first row, unless few are left. */
    static List<Part> since(List<Part> parts, Optional<Instant> begins) {
        long before =
                begins.map(first ->
                                parts.stream().takeWhile(part -> !part.to().isAfter(first)).count())
                        .orElse(0L);
        return List.copyOf(
                parts.subList(
                        Math.clamp(before, 0, Math.max(0, parts.size() - FEWEST)), parts.size()));
    }

    /** The activity of each of some tenants, from fewer rows: for a list with a line for each. */
    public static Map<String, Activity> ofTenants(
            Connection connection, List<String> tenants, Bins bins) throws SQLException {
        Map<String, List<Part>> parts = new HashMap<>();
        tenants.forEach(tenant -> parts.put(tenant, empty(bins)));
        Query.of(
                        COUNTS_OF_TENANTS,
                        tenants,
                        bins.since(),
                        (double) bins.width().toSeconds(),
                        bins.number(),
                        READ_BRIEFLY / bins.number())
                .each(
                        connection,
                        row ->
                                add(
                                        parts.getOrDefault(row.getString("tenant"), empty(bins)),
                                        row.getInt("part"),
                                        row));
        Map<String, Activity> activities = new HashMap<>();
        parts.forEach((tenant, own) ->
                activities.put(tenant, new Activity(List.copyOf(own), width(bins.width()))));
        return activities;
    }

    private static void add(List<Part> parts, int part, ResultSet row) throws SQLException {
        parts.set(
                part,
                parts.get(part)
                        .and(count(row, "mints"), count(row, "refusals"), count(row, "failures")));
    }

    private static Count count(ResultSet row, String what) throws SQLException {
        return Count.of(row.getLong(what), !row.getBoolean("more_" + what));
    }

    private static Count one(boolean isOne) {
        return new Count(isOne ? 1 : 0, false);
    }

    /** Counts the outcomes of listed mints and denials. */
    public static Activity of(Bins bins, List<Event> events) {
        List<Part> parts = empty(bins);
        for (Event event : events) {
            int part = bins.of(event.at());
            if (part >= 0 && part < parts.size()) {
                parts.set(
                        part,
                        parts.get(part)
                                .and(
                                        one(!event.refused()),
                                        one(event.refused()),
                                        one(event.failed())));
            }
        }
        return new Activity(List.copyOf(parts), width(bins.width()));
    }

    /** A mint or a denial. */
    public record Event(Instant at, boolean refused, boolean failed) {}

    private static List<Part> empty(Bins bins) {
        List<Part> parts = new ArrayList<>();
        for (int part = 0; part < bins.number(); part++) {
            parts.add(Part.empty(bins.from(part), bins.to(part)));
        }
        return parts;
    }

    private static String width(Duration width) {
        long days = width.toDays();
        if (days > 0) {
            return days == 1 ? "day" : days == 7 ? "week" : days + " days";
        }
        if (width.toHours() > 0) {
            return width.toHours() == 1 ? "hour" : width.toHours() + " hours";
        }
        return width.toSeconds() < 60
                ? width.toSeconds() + " s"
                : width.toMinutes() == 1 ? "minute" : width.toMinutes() + " minutes";
    }

    /** The start of the first part, inclusive. */
    public Instant since() {
        return parts.getFirst().from();
    }

    /** The end of the last part, exclusive, which may be in the future. */
    public Instant until() {
        return parts.getLast().to();
    }

    public Count mints() {
        return sum(Part::mints);
    }

    public Count refusals() {
        return sum(Part::refusals);
    }

    public Count failures() {
        return sum(Part::failures);
    }

    private Count sum(Function<Part, Count> what) {
        return parts.stream().map(what).reduce(Count.NONE, Count::and);
    }

    public boolean isEmpty() {
        return mints().and(refusals()).and(failures()).number() == 0;
    }

    /** Whether a part has more rows than were counted. */
    public boolean isBounded() {
        return mints().and(refusals()).and(failures()).isMore();
    }
}
