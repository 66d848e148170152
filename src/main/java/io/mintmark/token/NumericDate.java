package io.mintmark.token;

import com.fasterxml.jackson.databind.JsonNode;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.Optional;

/**
 * Seconds since 1970, possibly with a fraction (RFC 7519 section 2). Only times with a year of four
 * digits are accepted, so that every store and display can hold them.
 */
final class NumericDate {
    private static final BigDecimal FIRST =
            BigDecimal.valueOf(Instant.parse("0001-01-01T00:00:00Z").getEpochSecond());
    private static final BigDecimal LAST =
            BigDecimal.valueOf(Instant.parse("9999-12-31T23:59:59Z").getEpochSecond());
    private static final int NANO_DIGITS = 9;

    private NumericDate() {}

    static Optional<Instant> of(JsonNode node) {
        if (!node.isNumber()) {
            return Optional.empty();
        }
        BigDecimal seconds = node.decimalValue();
        if (seconds.compareTo(FIRST) < 0 || seconds.compareTo(LAST) > 0) {
            return Optional.empty();
        }
        BigDecimal whole = seconds.setScale(0, RoundingMode.FLOOR);
        long nanos = seconds.subtract(whole).movePointRight(NANO_DIGITS).longValue();
        return Optional.of(Instant.ofEpochSecond(whole.longValueExact(), nanos));
    }
}
