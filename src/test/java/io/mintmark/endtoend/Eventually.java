package io.mintmark.endtoend;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

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
        holds(patience, condition::getAsBoolean, held -> held);
    }

    /** Waits until what is looked at is as wanted, and fails with how it looked last. */
    public static <T> void holds(
            Duration patience, Supplier<T> looked, Predicate<? super T> wanted) {
        long end = System.nanoTime() + patience.toNanos();
        T last = looked.get();
        while (!wanted.test(last)) {
            if (System.nanoTime() > end) {
                throw new AssertionError("it didn't come true in %s: %s".formatted(patience, last));
            }
            LockSupport.parkNanos(PAUSE.toNanos());
            last = looked.get();
        }
    }
}
