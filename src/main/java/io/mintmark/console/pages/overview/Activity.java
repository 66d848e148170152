package io.mintmark.console.pages.overview;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Mints and refusals hour by hour, as a chart and as a table.
 *
 * @param hours the oldest first; the last isn't over yet
 */
record Activity(List<Hour> hours) {
    private static final int HOURS = 24;

    /** Rows that are counted for each hour; beyond that it is estimated. */
    private static final int COUNTED = 2_000;

    /** In pixels; across it is measured in hundredths, so that it fits every window. */
    private static final int HEIGHT = 190;

    private static final int BOTTOM = 22;
    private static final int TOP = 18;
    private static final double LEFT = 5;
    private static final double BAR = (100 - LEFT) / HOURS;
    private static final double GAP = 0.5;

    private static final DateTimeFormatter CLOCK =
            DateTimeFormatter.ofPattern("HH:mm", Locale.ENGLISH).withZone(ZoneOffset.UTC);

    private static final DateTimeFormatter SINCE =
            DateTimeFormatter.ofPattern("d MMM uuuu, HH:mm 'UTC'", Locale.ENGLISH)
                    .withZone(ZoneOffset.UTC);

    private static final String COUNTS =
            """
            SELECT a.part, a.mints, a.refusals, a.estimated
              FROM internal.activity(?, cast(? AS timestamptz), interval '1 hour', ?, ?) AS a
             ORDER BY a.part
            """;

    /**
     * An hour.
     *
     * @param estimated whether it is by how far the rows that were counted reached
     */
    record Hour(Instant from, long mints, long refusals, boolean estimated) {
        String clock() {
            return CLOCK.format(from);
        }

        Instant to() {
            return from.plus(1, ChronoUnit.HOURS);
        }

        private long all() {
            return mints + refusals;
        }
    }

    /**
     * A part of a bar.
     *
     * @param y of its upper end
     */
    record Bar(int y, int height) {}

    /** A horizontal line across the chart, with its label. */
    record Line(int y, String label) {}

    /** The last day, in all that the viewer may see or in one tenant. */
    static Activity of(Connection connection, Optional<String> tenant, Instant now)
            throws SQLException {
        Instant since = now.truncatedTo(ChronoUnit.HOURS).minus(Duration.ofHours(HOURS - 1));
        return new Activity(
                Query.of(COUNTS, tenant.orElse(null), since, HOURS, COUNTED)
                        .list(
                                connection,
                                row ->
                                        new Hour(
                                                since.plus(Duration.ofHours(row.getInt("part"))),
                                                row.getLong("mints"),
                                                row.getLong("refusals"),
                                                row.getBoolean("estimated"))));
    }

    /** The first moment that is counted: the hour of now is the last. */
    Instant since() {
        return hours.getFirst().from();
    }

    /** The same for people: the day and the hour. */
    String sinceWhen() {
        return SINCE.format(since());
    }

    long mints() {
        return hours.stream().mapToLong(Hour::mints).sum();
    }

    long refusals() {
        return hours.stream().mapToLong(Hour::refusals).sum();
    }

    boolean isEmpty() {
        return mints() + refusals() == 0;
    }

    boolean isEstimated() {
        return hours.stream().anyMatch(Hour::estimated);
    }

    /** The chart in a sentence, for whom it isn't seen by. */
    String sentence() {
        return "%s%s mints and %s refusals since %s; most in an hour: %s."
                .formatted(
                        isEstimated() ? "About " : "",
                        Frame.number(mints()),
                        Frame.number(refusals()),
                        sinceWhen(),
                        Frame.number(most()));
    }

    private long most() {
        return hours.stream().mapToLong(Hour::all).max().orElse(0);
    }

    /** The least round number that no bar is above. */
    private long top() {
        long top = 10;
        for (long step = 1; top < most(); step *= 10) {
            for (int of : new int[] {10, 20, 40, 60, 80}) {
                if (top < most()) {
                    top = step * of;
                }
            }
        }
        return Math.max(top, 4);
    }

    List<Line> lines() {
        return List.of(0, 1, 2).stream()
                .map(part -> new Line(y(top() * part / 2), Frame.number(top() * part / 2)))
                .toList();
    }

    Bar mintsBar(int hour) {
        return bar(0, hours.get(hour).mints());
    }

    /** On top of the mints. */
    Bar refusalsBar(int hour) {
        return bar(hours.get(hour).mints(), hours.get(hour).all());
    }

    private Bar bar(long from, long to) {
        int height = to > from ? Math.max(y(from) - y(to), 1) : 0;
        return new Bar(y(from) - height, height);
    }

    private int y(long value) {
        int room = HEIGHT - BOTTOM - TOP;
        return HEIGHT - BOTTOM - (int) (room * value / top());
    }

    /** The hours below which the chart says when they were. */
    boolean isLabelled(int hour) {
        return hours.get(hour).from().atZone(ZoneOffset.UTC).getHour() % 6 == 0;
    }

    /** The vertical position of the labels below the chart. */
    static int foot() {
        return HEIGHT - 6;
    }

    String left(int hour) {
        return percent(LEFT + hour * BAR + GAP / 2);
    }

    String label(int hour) {
        return percent(isLast(hour) ? LEFT + (hour + 1) * BAR : LEFT + (hour + 0.5) * BAR);
    }

    /** Whether this is the last hour, whose centered label would exceed the chart. */
    boolean isLast(int hour) {
        return hour == hours.size() - 1;
    }

    static String width() {
        return percent(BAR - GAP);
    }

    private static String percent(double part) {
        return String.format(Locale.ROOT, "%.2f%%", part);
    }
}
