package io.mintmark.base.tenant;

import java.time.InstantSource;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;

/**
 * Makes mint ids: 48 bits of Unix milliseconds, 12 bits that count within one, and 62 random bits
 * (RFC 9562 sections 5.7 and 6.2, method 1). Each is greater than the one before, also when the
 * clock stands still or goes back.
 */
public final class MintIds {
    private static final int COUNTER_BITS = 12;
    private static final long COUNTER = (1L << COUNTER_BITS) - 1;
    private static final long VERSION_7 = 0x7000L;
    private static final long VARIANT = 0x8000_0000_0000_0000L;

    private final InstantSource clock;
    private final RandomGenerator random;

    /** Milliseconds and counter of the last id, in one number. */
    private final AtomicLong last = new AtomicLong();

    /**
     * A generator of ids.
     *
     * @param random must not be predictable: ids are public, but the next one must not be guessable
     */
    public MintIds(InstantSource clock, RandomGenerator random) {
        this.clock = clock;
        this.random = random;
    }

    public MintId next() {
        long now = clock.millis() << COUNTER_BITS;
        long tick = last.updateAndGet(before -> Math.max(before + 1, now));
        long high = ((tick >>> COUNTER_BITS) << 16) | VERSION_7 | (tick & COUNTER);
        long low = VARIANT | (random.nextLong() >>> 2);
        return new MintId(new UUID(high, low));
    }
}
