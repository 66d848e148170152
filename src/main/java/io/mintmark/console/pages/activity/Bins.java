package io.mintmark.console.pages.activity;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * A time range in parts of the same width.
 *
 * @param since the beginning of the first part
 */
public record Bins(Instant since, Duration width, int number) {
    private static final int MOST = 60;
    private static final long WEEK = 7 * 86_400L;

    /** Widths that people think in, in seconds. Addresses have whole minutes. */
    private static final List<Long> WIDTHS =
            List.of(
                    60L,
                    300L,
                    900L,
                    3_600L,
                    10_800L,
                    21_600L,
                    86_400L,
                    WEEK,
                    30 * 86_400L,
                    365 * 86_400L);

    /** The last parts of a width up to now; the part of now is the last, and isn't over yet. */
    static Bins upTo(Instant now, Duration width, int number) {
        Instant last = start(now, width.toSeconds());
        return new Bins(last.minus(width.multipliedBy(number - 1L)), width, number);
    }

    /** A range in as many parts as fit a chart, of the narrowest width that does. */
    public static Bins between(Instant from, Instant to) {
        long width =
                WIDTHS.stream()
                        .filter(one -> number(from, to, one) <= MOST)
                        .findFirst()
                        .orElse(WIDTHS.getLast());
        return new Bins(
                start(from, width),
                Duration.ofSeconds(width),
                (int) Math.clamp(number(from, to, width), 1, 10L * MOST));
    }

    private static long number(Instant from, Instant to, long width) {
        long seconds = Duration.between(start(from, width), to).toSeconds();
        return Math.max(0, seconds) / width + 1;
    }

    private static Instant start(Instant at, long width) {
        return Instant.ofEpochSecond(Math.floorDiv(at.getEpochSecond(), width) * width);
    }

    Instant from(int part) {
        return since.plus(width.multipliedBy(part));
    }

    Instant to(int part) {
        return from(part + 1);
    }

    /** The part that a moment is in; outside of all parts, a number that no part has. */
    public int of(Instant at) {
        return (int) Math.floorDiv(Duration.between(since, at).toSeconds(), width.toSeconds());
    }
}
