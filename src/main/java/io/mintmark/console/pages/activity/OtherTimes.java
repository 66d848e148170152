package io.mintmark.console.pages.activity;

import io.mintmark.console.pages.frame.Links;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BinaryOperator;

/**
 * The time before that of a chart or a list, the time after it, and three times as much around it.
 */
public final class OtherTimes {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private OtherTimes() {}

    /** A link to another time. */
    public record Link(String text, String address) {}

    /** Links below a chart to the lists of other times, whose charts count the same. */
    public static List<Link> of(Chart chart, Instant now) {
        return of(
                chart.activity().since(),
                chart.activity().until(),
                now,
                (from, to) ->
                        "%sfrom=%s&to=%s"
                                .formatted(
                                        chart.address(), Links.encoded(from), Links.encoded(to)));
    }

    /**
     * Links to the times before, after and around a range. There is no later time if the range ends
     * now.
     *
     * @param address the page of a range, from its first and last minute
     */
    public static List<Link> of(
            Instant from, Instant until, Instant now, BinaryOperator<String> address) {
        Instant to = wholeMinute(earlier(until, now));
        Duration width = Duration.between(from, to);
        if (width.compareTo(MINUTE) < 0) {
            return List.of();
        }
        Instant after = earlier(to.plus(width), now);
        List<Link> links = new ArrayList<>();
        links.add(link("← Earlier", address, from.minus(width), from));
        if (to.isBefore(now)) {
            links.add(link("Later →", address, to, after));
        }
        links.add(link("Zoom out", address, from.minus(width), after));
        return links;
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    /** The end of the minute, because URLs have whole minutes. */
    private static Instant wholeMinute(Instant at) {
        return at.plus(MINUTE).minusNanos(1).truncatedTo(ChronoUnit.MINUTES);
    }

    private static Link link(
            String text, BinaryOperator<String> address, Instant from, Instant to) {
        return new Link(text, address.apply(Links.minute(from), Links.minute(wholeMinute(to))));
    }
}
