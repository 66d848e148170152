package io.mintmark.console.pages.frame;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/**
 * A time, and how far it is from now.
 *
 * @param now when the page was asked for
 */
public record Moment(Instant at, Instant now) {
    private static final DateTimeFormatter CLOCK =
            DateTimeFormatter.ofPattern("d MMM uuuu, HH:mm:ss 'UTC'", Locale.ENGLISH)
                    .withZone(ZoneOffset.UTC);

    private static final DateTimeFormatter DAY =
            DateTimeFormatter.ofPattern("d MMM uuuu", Locale.ENGLISH).withZone(ZoneOffset.UTC);

    /** The time for machines, in ISO 8601. */
    String iso() {
        return at.truncatedTo(ChronoUnit.MICROS).toString();
    }

    /** The day and the time in UTC, the same tomorrow as today: pages are printed and sent. */
    public String clock() {
        return CLOCK.format(at);
    }

    /** The day alone, such as "1 Mar 2026". */
    public String day() {
        return DAY.format(at);
    }

    /** The distance from the request's time, such as "3 minutes ago" or "in 2 hours". */
    public String distance() {
        Duration distance = Duration.between(at, now);
        String length = length(distance.abs());
        if (length.isEmpty()) {
            return "just now";
        }
        return distance.isNegative() ? "in " + length : length + " ago";
    }

    /** The moment in a column of a table: "3 min ago", "in 2 h". */
    public String brief() {
        Duration distance = Duration.between(at, now);
        long seconds = distance.abs().toSeconds();
        String length =
                seconds < 90
                        ? seconds + " s"
                        : seconds < 7_200
                                ? seconds / 60 + " min"
                                : seconds < 172_800
                                        ? seconds / 3_600 + " h"
                                        : Frame.number(seconds / 86_400) + " days";
        if (seconds < 2) {
            return "just now";
        }
        return distance.isNegative() ? "in " + length : length + " ago";
    }

    /** One word for a time in the future, another for a time in the past. */
    public String verb(String coming, String over) {
        return at.isAfter(now) ? coming : over;
    }

    /** A stretch of time in its largest unit that says enough; empty if it is almost nothing. */
    public static String length(Duration time) {
        if (time.toSeconds() < 2) {
            return "";
        }
        if (time.toSeconds() < 120) {
            return count(time.toSeconds(), "second");
        }
        if (time.toMinutes() < 120) {
            return count(time.toMinutes(), "minute");
        }
        if (time.toHours() < 48) {
            return count(time.toHours(), "hour");
        }
        return time.toDays() < 800
                ? count(time.toDays(), "day")
                : count(time.toDays() / 365, "year");
    }

    private static String count(long number, String unit) {
        return "%,d %s%s".formatted(number, unit, number == 1 ? "" : "s");
    }
}
