package io.mintmark.base.limit;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A rate as one number: the time at which all that came so far will be worked off (GCRA, the
 * virtual scheduling of ITU-T I.371 annex A). It takes cost that is known only afterwards, and
 * allows any rate that callers can express as time.
 *
 * <p>Times are nanoseconds of any clock that only goes forward; a cost of 50 ms is a rate of 20 a
 * second.
 */
public final class LeakyBucket {
    private final AtomicLong emptyAt;

    /**
     * @param now the bucket begins empty
     */
    public LeakyBucket(long now) {
        this.emptyAt = new AtomicLong(now);
    }

    /** The time until the bucket is empty; negative if it has been empty for so long. */
    public long untilEmpty(long now) {
        return emptyAt.get() - now;
    }

    /**
     * Adds a cost.
     *
     * @return the time until everything added before is worked off, when this cost begins to be; at
     *     least 0
     */
    public long add(long now, long cost) {
        long before = emptyAt.getAndUpdate(at -> now + Math.max(0, at - now) + cost);
        return Math.max(0, before - now);
    }
}
