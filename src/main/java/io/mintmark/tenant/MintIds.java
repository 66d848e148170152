package io.mintmark.tenant;

import java.time.InstantSource;
import java.util.UUID;
import java.util.random.RandomGenerator;

/** Makes mint ids: 48 bits of Unix milliseconds, then random bits (RFC 9562 section 5.7). */
public final class MintIds {
    private static final long VERSION_7 = 0x7000L;
    private static final long VARIANT = 0x8000_0000_0000_0000L;

    private final InstantSource clock;
    private final RandomGenerator random;

    /**
     * @param random must not be guessable by clients: ids are public, and yet nobody should know
     *     the next one
     */
    public MintIds(InstantSource clock, RandomGenerator random) {
        this.clock = clock;
        this.random = random;
    }

    /** The next id. */
    public MintId next() {
        long high = (clock.millis() << 16) | VERSION_7 | (random.nextLong() & 0xFFFL);
        long low = VARIANT | (random.nextLong() >>> 2);
        return new MintId(new UUID(high, low));
    }
}
