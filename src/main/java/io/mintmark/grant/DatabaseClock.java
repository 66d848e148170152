package io.mintmark.grant;

import java.time.Instant;
import java.util.function.LongSupplier;

/**
 * The database's clock, as it was last heard of. It is behind the real one by the time that the
 * answer took, and never ahead but for how much the two clocks drift apart since: what ends by it
 * ends late rather than early.
 */
final class DatabaseClock {
    private record Reading(Instant time, long nanos) {}

    private final LongSupplier nanos;
    private volatile Reading last;

    /**
     * @param nanos a clock that only goes forward, in nanoseconds
     */
    DatabaseClock(LongSupplier nanos) {
        this.nanos = nanos;
        this.last = new Reading(Instant.MIN, nanos.getAsLong());
    }

    /** An answer has just come in which the database said what time it is. */
    void heard(Instant time) {
        last = new Reading(time, nanos.getAsLong());
    }

    /** The database's time; before all times if it was never heard. */
    Instant now() {
        Reading reading = last;
        return reading.time().plusNanos(nanos.getAsLong() - reading.nanos());
    }
}
