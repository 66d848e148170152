package io.mintmark.console.pages.frame;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.console.verification.Alarm;

import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * What all pages have in common.
 *
 * @param title the question that the page answers
 * @param section the entry of the navigation that it belongs to: the first part of its path
 * @param viewer the user; none on the pages before a login
 * @param seesAll whether the viewer sees all tenants, and with them rows that belong to no tenant
 * @param now when it was requested
 * @param requestId its id in the log
 * @param alarm the last verification, if it found something
 * @param types the types of credentials that this release knows, by name
 * @param otherCells the URLs of the consoles of other cells
 */
public record Frame(
        String title,
        String section,
        Optional<String> viewer,
        boolean seesAll,
        Instant now,
        String requestId,
        Optional<Alarm> alarm,
        Map<String, CredentialType> types,
        List<URI> otherCells) {

    /** The length up to which an id is shown whole, such as an access key's, in characters. */
    private static final int WHOLE = 24;

    /** The characters kept of each end of a longer id; the page shows the whole elsewhere. */
    private static final int SHORT = 8;

    /** The number of a value's lines that are shown unfolded. */
    private static final int LINES = 8;

    /** A time as the page shows it, with how far it is from the request. */
    public Moment at(Instant time) {
        return new Moment(time, now);
    }

    /** Whether the page belongs to the section of the navigation's entry. */
    boolean isIn(String entry) {
        return section.equals(entry);
    }

    /** Whether the last verification found that a row of this mint was altered. */
    public boolean isAltered(String mint) {
        return alarm.filter(one -> one.marked().test(mint)).isPresent();
    }

    /** How credentials of a type can be ended before they expire. */
    public String earlyEnd(String type) {
        return Optional.ofNullable(types.get(type))
                .map(known ->
                        "To end a credential of type %s early: %s"
                                .formatted(type, known.earlyEnd()))
                .orElseGet(
                        () -> "This release does not know credentials of type %s.".formatted(type));
    }

    /** A whole number as people write it. */
    public static String number(long number) {
        return String.format(Locale.ENGLISH, "%,d", number);
    }

    /** A number with its noun, whose plural is regular. */
    public static String count(long number, String what) {
        return number(number) + " " + what + (number == 1 ? "" : "s");
    }

    /** Counts something whose plural is irregular. */
    public static String count(long number, String one, String several) {
        return number(number) + " " + (number == 1 ? one : several);
    }

    /** Seconds in words. */
    public static String seconds(long seconds) {
        return Moment.length(Duration.ofSeconds(seconds));
    }

    /** Whether a text has so many lines that it is folded. */
    public static boolean isLong(String text) {
        return text.lines().count() > LINES;
    }

    /** The beginning and the end of an id, which differ most between ids. */
    public static String shortened(String id) {
        return id.length() <= WHOLE
                ? id
                : id.substring(0, SHORT) + "…" + id.substring(id.length() - SHORT);
    }
}
