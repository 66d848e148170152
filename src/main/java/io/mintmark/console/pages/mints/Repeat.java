package io.mintmark.console.pages.mints;

import io.mintmark.console.pages.activity.Count;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Links;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;

/**
 * Mints or refusals that follow each other within a minute and differ in nothing but their time,
 * such as those of a job that tries again and again. A list shows one of them, and how many they
 * are.
 *
 * @param shown the latest, or the first in a list that begins with the oldest
 * @param first when the first of them began
 * @param last when the last of them began
 * @param more whether more of them may follow among the rows that weren't read
 */
public record Repeat(MintLine shown, Instant first, Instant last, int times, boolean more) {
    /** The longest time between two of them. */
    private static final Duration GAP = Duration.ofMinutes(1);

    private static final DateTimeFormatter CLOCK = inUtc("HH:mm");
    private static final DateTimeFormatter DAY_AND_CLOCK = inUtc("d MMM HH:mm");
    private static final DateTimeFormatter DAY = inUtc("uuuu-MM-dd");

    private static DateTimeFormatter inUtc(String pattern) {
        return DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).withZone(ZoneOffset.UTC);
    }

    static Repeat of(MintLine line) {
        return new Repeat(line, line.at(), line.at(), 1, false);
    }

    /** Whether a line is one more of them. */
    boolean takes(MintLine line) {
        return isLike(line) && isNear(line.at());
    }

    private boolean isNear(Instant at) {
        return !at.isBefore(first.minus(GAP)) && !at.isAfter(last.plus(GAP));
    }

    private boolean isLike(MintLine line) {
        return shown.subject().isPresent()
                && shown.subject().equals(line.subject())
                && shown.actor().equals(line.actor())
                && shown.tenant().equals(line.tenant())
                && shown.key().equals(line.key())
                && shown.outcome() == line.outcome()
                && shown.reason().equals(line.reason());
    }

    Repeat and(MintLine line) {
        Instant at = line.at();
        return new Repeat(
                shown,
                at.isBefore(first) ? at : first,
                at.isAfter(last) ? at : last,
                times + 1,
                more);
    }

    /** Notes whether its repeats may go on after the end of the list, a row of this time. */
    Repeat continuedAfter(Instant end) {
        return new Repeat(shown, first, last, times, times > 1 && isNear(end));
    }

    boolean isOne() {
        return times == 1;
    }

    /** The repeats in words, such as "× 3,100, 04:00–04:06"; empty for one alone. */
    public Optional<String> words(Frame frame) {
        return isOne()
                ? Optional.empty()
                : Optional.of(
                        "× %s, %s"
                                .formatted(
                                        more ? Count.atLeast(times) : Frame.number(times),
                                        times(frame)));
    }

    /** The times in UTC, with their day if it isn't that of the request. */
    private String times(Frame frame) {
        boolean today = day(first).equals(day(frame.now()));
        boolean oneDay = day(first).equals(day(last));
        String from = (today && oneDay ? CLOCK : DAY_AND_CLOCK).format(first);
        String to = (oneDay ? CLOCK : DAY_AND_CLOCK).format(last);
        return from.endsWith(to) ? from : from + "–" + to;
    }

    private static String day(Instant at) {
        return DAY.format(at);
    }

    /** The URL of a search that lists each of them. */
    public String address() {
        return "/mints?tenant=%s&key=%s&subject=%s%s%s&from=%s&to=%s&fold=no"
                .formatted(
                        Links.encoded(shown.tenant().orElse("")),
                        Links.encoded(shown.key().orElse("")),
                        Links.encoded(shown.subject().orElse("")),
                        shown.actor().map(actor -> "&actor=" + Links.encoded(actor)).orElse(""),
                        MintOutcome.SEARCHED.contains(shown.outcome().word())
                                ? "&outcome=" + shown.outcome().word()
                                : "",
                        Links.time(first),
                        Links.time(last.plus(GAP)));
    }
}
