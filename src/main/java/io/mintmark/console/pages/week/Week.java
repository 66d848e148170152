package io.mintmark.console.pages.week;

import io.mintmark.console.pages.activity.Bins;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.frame.Parameters;

import java.time.DateTimeException;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.IsoFields;
import java.time.temporal.TemporalAdjusters;
import java.util.Locale;
import java.util.Optional;

/** A week of ISO 8601 in UTC, which begins on a Monday. */
record Week(LocalDate monday) {
    private static final String PARAMETER = "of";
    private static final int DAYS = 7;

    private static final DateTimeFormatter DAY_AND_MONTH = format("d MMM");
    private static final DateTimeFormatter DAY = format("d MMM uuuu");
    private static final DateTimeFormatter CLOCK = format("EEE d MMM, HH:mm");

    private static DateTimeFormatter format(String pattern) {
        return DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).withZone(ZoneOffset.UTC);
    }

    /** The week of a moment. */
    static Week of(Instant moment) {
        return new Week(
                LocalDate.ofInstant(moment, ZoneOffset.UTC)
                        .with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY)));
    }

    /**
     * The week that an address names, or else the one of now.
     *
     * @throws Parameters.Unusable for anything that isn't a week, and for one in the future
     */
    static Week of(Parameters parameters, Instant now) {
        Optional<String> word = parameters.text(PARAMETER);
        if (word.isEmpty()) {
            return of(now);
        }
        Week week = parsed(word.get());
        if (week.start().isAfter(now)) {
            throw new Parameters.Unusable("Week %s is in the future.".formatted(word.get()));
        }
        return week;
    }

    private static Week parsed(String word) {
        try {
            Week week = new Week(LocalDate.parse(word + "-1", DateTimeFormatter.ISO_WEEK_DATE));
            if (!week.start().isBefore(Instant.EPOCH)) {
                return week;
            }
        } catch (DateTimeException e) {
            // answered below, as a week before 1970 is
        }
        throw new Parameters.Unusable(
                "'%s' is not a week. Write a week of ISO 8601, such as 2026-W09.".formatted(word));
    }

    Week previous() {
        return new Week(monday.minusDays(DAYS));
    }

    Week next() {
        return new Week(monday.plusDays(DAYS));
    }

    Instant start() {
        return monday.atStartOfDay().toInstant(ZoneOffset.UTC);
    }

    /** The end of the week, exclusive. */
    Instant end() {
        return next().start();
    }

    boolean isRunning(Instant now) {
        return end().isAfter(now);
    }

    /** The days, as parts of a chart. */
    Bins days() {
        return new Bins(start(), Duration.ofDays(1), DAYS);
    }

    /** The week in words, such as "week 9 of 2026". */
    String words() {
        return "week %d of %d"
                .formatted(
                        monday.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR),
                        monday.get(IsoFields.WEEK_BASED_YEAR));
    }

    /** The first and the last day, such as "23 Feb – 1 Mar 2026". */
    String span() {
        LocalDate sunday = sunday();
        return "%s – %s"
                .formatted(
                        (monday.getYear() == sunday.getYear() ? DAY_AND_MONTH : DAY).format(monday),
                        DAY.format(sunday));
    }

    private LocalDate sunday() {
        return monday.plusDays(DAYS - 1L);
    }

    /** The page of a tenant's week. */
    String address(String tenant) {
        return "%s?%s=%d-W%02d"
                .formatted(
                        Links.week(tenant),
                        PARAMETER,
                        monday.get(IsoFields.WEEK_BASED_YEAR),
                        monday.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR));
    }

    /** The parameters of other pages for this week, without a question mark. */
    String range() {
        return "from=%s&to=%s".formatted(monday, sunday());
    }

    /** A moment of the week with its day and minute; any other with its date alone. */
    String clock(Instant at) {
        return at.isBefore(start()) || !at.isBefore(end()) ? DAY.format(at) : CLOCK.format(at);
    }
}
