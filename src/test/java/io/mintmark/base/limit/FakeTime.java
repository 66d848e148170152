package io.mintmark.base.limit;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/** Time that stands still until a test moves it. */
final class FakeTime implements InstantSource, LongSupplier {
    static final Instant START = Instant.parse("2026-03-04T05:06:07Z");

    /** Close to where {@code long} ends, because the origin of real nanoseconds is anywhere. */
    private static final long ORIGIN = Long.MAX_VALUE - Duration.ofSeconds(90).toNanos();

    private volatile Duration passed = Duration.ZERO;

    void advance(Duration time) {
        passed = passed.plus(time);
    }

    Duration passed() {
        return passed;
    }

    @Override
    public Instant instant() {
        return START.plus(passed);
    }

    @Override
    public long getAsLong() {
        return ORIGIN + passed.toNanos();
    }
}
