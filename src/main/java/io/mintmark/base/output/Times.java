package io.mintmark.base.output;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.Optional;

/** Times that options give. */
public final class Times {
    private Times() {}

    /**
     * A date (UTC) or a time; empty where the option isn't given.
     *
     * @throws CommandFailed if it is neither
     */
    public static Optional<Instant> of(String option, @Nullable String text) {
        if (text == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    text.length() == "2026-03-01".length()
                            ? LocalDate.parse(text).atStartOfDay().toInstant(ZoneOffset.UTC)
                            : Instant.parse(text));
        } catch (DateTimeParseException e) {
            throw new CommandFailed(
                    "%s: '%s' is not a time; write 2026-03-01 or 2026-03-01T12:00:00Z"
                            .formatted(option, text));
        }
    }
}
