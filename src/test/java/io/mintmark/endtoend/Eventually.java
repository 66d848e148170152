package io.mintmark.endtoend;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Waits for what must come true. */
public final class Eventually {
    /**
     * {@link #PATIENCE} in seconds, for annotations. It only ends a test that hangs, so it is far
     * beyond what a loaded machine takes, whose processes stand still for seconds.
     */
    public static final long SECONDS = 180;

    /** The longest wait for what must come true. */
    public static final Duration PATIENCE = Duration.ofSeconds(SECONDS);

    private static final Duration PAUSE = Duration.ofMillis(20);

    private Eventually() {}

    /** Returns as soon as the condition holds, and fails if it never does. */
    public static void holds(BooleanSupplier condition) {
        holds(PATIENCE, condition);
    }

    /** The same for what may take longer. */
    public static void holds(Duration timeout, BooleanSupplier condition) {
        holds(timeout, condition::getAsBoolean, held -> held);
    }

    /** Waits until what is looked at is as wanted, and fails with how it looked last. */
    public static <T> void holds(
            Duration timeout, Supplier<T> looked, Predicate<? super T> wanted) {
        long end = System.nanoTime() + timeout.toNanos();
        T last = looked.get();
        while (!wanted.test(last)) {
            if (System.nanoTime() > end) {
                throw new AssertionError("it didn't come true in %s: %s".formatted(timeout, last));
            }
            LockSupport.parkNanos(PAUSE.toNanos());
            last = looked.get();
        }
    }
}
