package io.mintmark.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

class SingleFlightCacheTest {
    private static final Duration MAX_AGE = Duration.ofSeconds(10);

    private final AtomicLong nanos = new AtomicLong();
    private final AtomicInteger reads = new AtomicInteger();
    private final SingleFlightCache<String, Integer> cache =
            new SingleFlightCache<>(
                    MAX_AGE, 10, nanos::incrementAndGet, (_, _) -> reads.incrementAndGet());

    @Test
    void a_value_is_read_once_and_used_again() {
        assertEquals(1, cache.get("a"));
        assertEquals(1, cache.get("a"));
    }

    @Test
    void a_value_that_is_too_old_is_read_again() {
        cache.get("a");
        nanos.addAndGet(MAX_AGE.toNanos());
        assertEquals(2, cache.get("a"));
    }

    @Test
    void a_value_that_changed_is_read_again_and_the_others_are_not() {
        cache.get("a");
        cache.get("b");
        cache.changed("a");
        assertEquals(3, cache.get("a"));
        assertEquals(2, cache.get("b"));
    }

    @Test
    void all_are_read_again_if_all_may_have_changed() {
        cache.get("a");
        cache.allChanged();
        assertEquals(2, cache.get("a"));
    }

    @Test
    void a_change_that_is_announced_while_the_value_is_read_is_not_missed() {
        AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});
        SingleFlightCache<String, Integer> slow =
                new SingleFlightCache<>(
                        MAX_AGE,
                        10,
                        nanos::incrementAndGet,
                        (_, _) -> {
                            meanwhile.getAndSet(() -> {}).run();
                            return reads.incrementAndGet();
                        });
        slow.get("a");
        slow.changed("a");
        meanwhile.set(() -> slow.changed("a"));
        assertEquals(2, slow.get("a"));
        assertEquals(3, slow.get("a"));
    }

    @Test
    void a_value_that_was_confirmed_is_as_good_as_read_then() {
        cache.get("a");
        nanos.addAndGet(MAX_AGE.toNanos());
        cache.held().changed(_ -> false);
        assertEquals(1, cache.get("a"));
        nanos.addAndGet(MAX_AGE.toNanos());
        assertEquals(2, cache.get("a"));
    }

    @Test
    void of_what_was_held_only_what_changed_is_read_again() {
        cache.get("a");
        cache.get("b");
        cache.held().changed("a"::equals);
        assertEquals(3, cache.get("a"));
        assertEquals(2, cache.get("b"));
    }

    @Test
    void what_changed_after_it_was_held_is_not_confirmed() {
        cache.get("a");
        var held = cache.held();
        cache.changed("a");
        held.changed(_ -> false);
        assertEquals(2, cache.get("a"));
    }

    @Test
    void what_was_read_after_it_was_held_keeps_its_own_age() {
        cache.get("a");
        var held = cache.held();
        nanos.addAndGet(MAX_AGE.toNanos());
        assertEquals(2, cache.get("a"));
        held.changed(_ -> false);
        assertEquals(2, cache.get("a"));
    }

    @Test
    void values_that_weigh_too_much_together_are_not_all_kept() {
        SingleFlightCache<String, Integer> heavy =
                new SingleFlightCache<>(
                        MAX_AGE,
                        10,
                        _ -> 6,
                        nanos::incrementAndGet,
                        (_, _) -> reads.incrementAndGet());
        heavy.get("a");
        heavy.get("b");
        Eventually.holds(() -> heavy.held().values().size() == 1);
    }

    @Test
    void those_who_waited_for_a_reading_that_failed_share_its_failure() throws Exception {
        CountDownLatch reading = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger attempts = new AtomicInteger();
        SingleFlightCache<String, Integer> failing =
                new SingleFlightCache<>(
                        MAX_AGE,
                        10,
                        nanos::get,
                        (_, _) -> {
                            attempts.incrementAndGet();
                            reading.countDown();
                            await(goOn);
                            throw new IllegalStateException("gone");
                        });
        var first = CompletableFuture.runAsync(() -> failing.get("a"), Thread::startVirtualThread);
        reading.await();
        Thread second =
                Thread.startVirtualThread(
                        () -> assertThrows(IllegalStateException.class, () -> failing.get("a")));
        while (second.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        goOn.countDown();
        second.join();
        assertThrows(CompletionException.class, first::join);
        assertEquals(1, attempts.get());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
