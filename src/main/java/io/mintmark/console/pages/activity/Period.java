package io.mintmark.console.pages.activity;

import io.mintmark.console.pages.frame.Parameters;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** A length of time that ends now and that a page can show. */
public enum Period {
    HOUR(Duration.ofMinutes(1), 60),
    DAY(Duration.ofHours(1), 24),
    WEEK(Duration.ofHours(6), 28),
    MONTH(Duration.ofDays(1), 30),
    QUARTER(Duration.ofDays(1), 91);

    private static final String PARAMETER = "range";

    private final Duration width;
    private final int number;

    Period(Duration width, int number) {
        this.width = width;
        this.number = number;
    }

    /**
     * The one that an address names.
     *
     * @throws Parameters.Unusable for an unknown name
     */
    public static Optional<Period> of(Parameters parameters) {
        return parameters.text(PARAMETER).map(Period::named);
    }

    private static Period named(String word) {
        try {
            return valueOf(word.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new Parameters.Unusable(
                    "'%s' is not a range. Use hour, day, week, month or quarter.".formatted(word));
        }
    }

    /** A choice among periods. */
    public record Link(String label, String address, boolean current) {}

    /**
     * Links to the same page for each period.
     *
     * @param path of the page, with the rest of its query
     * @param current the one that the page shows
     */
    public static List<Link> links(String path, Optional<Period> current) {
        String start = path + (path.contains("?") ? "&" : "?");
        return Stream.of(values())
                .map(one ->
                        new Link(
                                one.label(),
                                start + PARAMETER + "=" + one.word(),
                                current.filter(one::equals).isPresent()))
                .toList();
    }

    /** The parts of the period that ends now. */
    public Bins bins(Instant now) {
        return Bins.upTo(now, width, number);
    }

    /** The value in URLs. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    private String label() {
        return name().charAt(0) + word().substring(1);
    }
}
