package io.mintmark.base.time;

import java.time.Instant;

/**
 * Now, by several clocks that may differ. What begins has begun once all of them show it, and what
 * ends has ended once any of them does.
 *
 * @param earliest by the clock that is behind the others
 * @param latest by the clock that is ahead of the others
 */
public record TimeBounds(Instant earliest, Instant latest) {

    /** Bounds without uncertainty, from one clock. */
    public static TimeBounds of(Instant instant) {
        return new TimeBounds(instant, instant);
    }

    /** Whether this time has certainly been reached. */
    public boolean isFrom(Instant beginning) {
        return !earliest.isBefore(beginning);
    }

    /** Whether this end, which is exclusive, has certainly not been reached. */
    public boolean isBefore(Instant end) {
        return latest.isBefore(end);
    }
}
