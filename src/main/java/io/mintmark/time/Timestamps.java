package io.mintmark.time;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;

/** Instants as text: ISO 8601 in UTC, as RFC 3339 profiles it, to the nanosecond. */
public final class Timestamps {
    private Timestamps() {}

    /**
     * The same as {@link Instant#toString()}, without its formatter, which is there for any
     * pattern: a mint writes seven, and right after a start that formatter was among what the JVM's
     * second compiler was longest busy with.
     */
    public static String text(Instant at) {
        LocalDateTime time =
                LocalDateTime.ofEpochSecond(at.getEpochSecond(), at.getNano(), ZoneOffset.UTC);
        // which says no seconds where there are none
        boolean fullMinute = time.getSecond() == 0 && time.getNano() == 0;
        return fullMinute ? time + ":00Z" : time + "Z";
    }
}
