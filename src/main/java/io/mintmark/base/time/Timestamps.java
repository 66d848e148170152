package io.mintmark.base.time;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;

/** Instants as text: ISO 8601 in UTC, as RFC 3339 profiles it, to the nanosecond. */
public final class Timestamps {
    private static final Instant FIRST = Instant.parse("0000-01-01T00:00:00Z");
    private static final Instant BEYOND = Instant.parse("+10000-01-01T00:00:00Z");

    private Timestamps() {}

    /**
     * Writes what {@link Instant#toString()} writes, for years of four digits without its
     * formatter, which is there for any pattern: a mint writes seven, and right after a start that
     * formatter was among what the JVM's second compiler was longest busy with.
     */
    public static String text(Instant at) {
        return at.isBefore(FIRST) || !at.isBefore(BEYOND) ? at.toString() : usual(at);
    }

    private static String usual(Instant at) {
        LocalDateTime time =
                LocalDateTime.ofEpochSecond(at.getEpochSecond(), at.getNano(), ZoneOffset.UTC);
        // LocalDateTime leaves out seconds that are zero
        boolean fullMinute = time.getSecond() == 0 && time.getNano() == 0;
        return fullMinute ? time + ":00Z" : time + "Z";
    }
}
