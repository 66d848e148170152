package io.mintmark.console.pages.frame;

import org.jspecify.annotations.Nullable;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A day or a moment as a user typed it.
 *
 * @param text as it was typed; empty if nothing was
 * @param at its meaning; for a day its first or last moment
 * @param fault why it is invalid, as a sentence
 */
public record TypedTime(String text, Optional<Instant> at, Optional<String> fault) {
    private static final Instant LAST = Instant.parse("9999-01-01T00:00:00Z");

    /** The accepted form of a time. A "+" in a URL that wasn't encoded arrives as a space. */
    private static final Pattern WRITTEN =
            Pattern.compile(
                    "([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2} [a-z]+ [0-9]{4})"
                            + "(?:(?:t|, ?| )([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\\.[0-9]{1,9})?)?)"
                            + " ?(z|utc|gmt|[+ -][0-9]{2}:?[0-9]{2})?)?",
                    Pattern.CASE_INSENSITIVE);

    /** The format of a day on pages: {@code 1 Mar 2026}. */
    private static final DateTimeFormatter DAY =
            new DateTimeFormatterBuilder()
                    .parseCaseInsensitive()
                    .appendPattern("d [MMMM][MMM] uuuu")
                    .toFormatter(Locale.ENGLISH)
                    .withResolverStyle(ResolverStyle.STRICT);

    /**
     * A range of time, with both ends inclusive.
     *
     * @param to with a fault if the range is empty
     */
    public record Span(TypedTime from, TypedTime to) {
        /** A range without a beginning and an end. */
        public static final Span NONE = new Span(TypedTime.of("", false), TypedTime.of("", true));

        /** The parameters {@code from} and {@code to} of an address. */
        public static Span of(Parameters parameters) {
            TypedTime from = TypedTime.of(parameters, "from", false);
            TypedTime to = TypedTime.of(parameters, "to", true);
            boolean backwards =
                    from.at().isPresent() && to.at().filter(from.at().get()::isAfter).isPresent();
            return new Span(from, backwards ? to.wrong("The start is after the end.") : to);
        }

        /** Whether neither was typed. */
        public boolean isEmpty() {
            return from.text().isEmpty() && to.text().isEmpty();
        }

        /** The first fault of the two times. */
        public Optional<String> fault() {
            return Stream.of(from, to).flatMap(time -> time.fault().stream()).findFirst();
        }
    }

    /**
     * A parameter as it was typed, be it wrong; of a day its first moment, or its last one.
     *
     * @param end whether the end of a day is meant
     */
    public static TypedTime of(Parameters parameters, String name, boolean end) {
        return of(parameters.text(name).orElse(""), end);
    }

    /**
     * Parses a text.
     *
     * @param end whether a day means its end
     */
    static TypedTime of(String text, boolean end) {
        TypedTime typed = new TypedTime(text, Optional.empty(), Optional.empty());
        if (text.isEmpty()) {
            return typed;
        }
        try {
            return new TypedTime(text, Optional.of(moment(text, end)), Optional.empty());
        } catch (DateTimeException e) {
            return typed.wrong(
                    ("'%s' is not a time: write 2026-03-01, 2026-03-01 14:30 or 1 Mar 2026, "
                                    + "14:30 UTC.")
                            .formatted(text));
        }
    }

    private TypedTime wrong(String sentence) {
        return new TypedTime(text, Optional.empty(), Optional.of(sentence));
    }

    private static Instant moment(String text, boolean end) {
        Matcher parts = WRITTEN.matcher(text);
        if (!parts.matches()) {
            throw new DateTimeException("the text is neither a date nor a time");
        }
        LocalDate day = day(parts.group(1));
        String time = parts.group(2);
        Instant moment =
                time == null
                        ? ofDay(day, end)
                        : day.atTime(LocalTime.parse(time)).toInstant(offset(parts.group(3)));
        if (moment.isBefore(Instant.EPOCH) || moment.isAfter(LAST)) {
            throw new DateTimeException("the time is out of range");
        }
        return moment;
    }

    private static LocalDate day(String text) {
        return text.indexOf('-') > 0 ? LocalDate.parse(text) : LocalDate.parse(text, DAY);
    }

    private static Instant ofDay(LocalDate day, boolean end) {
        return end
                ? day.plusDays(1)
                        .atStartOfDay()
                        .toInstant(ZoneOffset.UTC)
                        .minus(1, ChronoUnit.MICROS)
                : day.atStartOfDay().toInstant(ZoneOffset.UTC);
    }

    private static ZoneOffset offset(@Nullable String text) {
        return text == null || Character.isLetter(text.charAt(0))
                ? ZoneOffset.UTC
                : ZoneOffset.of(text.replace(' ', '+'));
    }
}
