package io.mintmark.base.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

class TimeoutTest {
    @Test
    void what_takes_too_long_is_ended_and_not_before() {
        long began = System.nanoTime();
        var ended = new CompletableFuture<Long>();

        Timeout.after(Duration.ofMillis(120), () -> ended.complete(System.nanoTime()));

        assertTrue(ended.join() - began >= Duration.ofMillis(120).toNanos());
    }

    @Test
    void what_is_over_in_time_is_not_ended() {
        var ended = new AtomicInteger();
        Duration timeout = Duration.ofMillis(100);
        int late = 0; // since the machine did something else meanwhile
        for (int i = 0; i < 10_000; i++) {
            long began = System.nanoTime();
            try (Timeout _ = Timeout.after(timeout, ended::incrementAndGet)) {
                Thread.onSpinWait();
            }
            late += System.nanoTime() - began < timeout.toNanos() ? 0 : 1;
        }
        var later = new CompletableFuture<Integer>();

        Timeout.after(Duration.ofMillis(200), () -> later.complete(ended.get()));

        int most = late;
        assertTrue(later.join() <= most, () -> later.join() + " ended, " + most + " took longer");
    }

    @Test
    void no_time_at_all_is_over_at_once() {
        var ended = new CompletableFuture<String>();

        Timeout.after(Duration.ofSeconds(-1), () -> ended.complete("over"));

        assertEquals("over", ended.join());
    }

    @Test
    void one_that_fails_keeps_no_other_from_ending() throws InterruptedException {
        var others = new CountDownLatch(100);

        for (int i = 0; i < 100; i++) {
            Timeout.after(
                    Duration.ZERO,
                    () -> {
                        throw new IllegalStateException("a fault");
                    });
            Timeout.after(Duration.ZERO, others::countDown);
        }

        others.await();
    }
}
