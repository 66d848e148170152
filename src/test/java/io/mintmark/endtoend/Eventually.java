package io.mintmark.endtoend;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what must come true. */
public final class Eventually {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration PAUSE = Duration.ofMillis(20);

    private Eventually() {}

    /** Returns as soon as the condition holds, and fails if it never does. */
    public static void holds(BooleanSupplier condition) {
        holds(PATIENCE, condition);
    }

    /** The same for what may take longer. */
    public static void holds(Duration patience, BooleanSupplier condition) {
        long end = System.nanoTime() + patience.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("it didn't come true in " + patience);
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }
}
