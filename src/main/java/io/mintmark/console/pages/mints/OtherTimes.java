package io.mintmark.console.pages.mints;

import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.mints.MintsPage.Link;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/** The time before that of a search, the time after it, and three times as much around it. */
final class OtherTimes {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private OtherTimes() {}

    /**
     * Links to the times before, after and around the search's range. There are none if the search
     * has no beginning, and no later time if it ends now.
     */
    static List<Link> of(SearchAddress address, Wanted wanted, Instant now) {
        if (wanted.from().isEmpty() || wanted.before().isPresent()) {
            return List.of();
        }
        Instant from = wanted.from().get();
        Instant to = wholeMinute(earlier(wanted.to().orElse(now), now));
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

    private static Link link(String text, SearchAddress address, Instant from, Instant to) {
        return new Link(
                text,
                address.without("range")
                        .with("from", Links.minute(from))
                        .with("to", Links.minute(wholeMinute(to)))
                        .text());
    }
}
