package io.mintmark.broker.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.base.limit.WeightByOwner;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

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
                        (_, _) -> 6,
                        nanos::incrementAndGet,
                        (_, _) -> reads.incrementAndGet());
        heavy.get("a");
        heavy.get("b");
        Eventually.holds(() -> heavy.held().values().size() == 1);
    }

    /** Keys are "owner:name", and each owner's values may weigh 4 together. */
    private SingleFlightCache<String, Integer> shared(
            SingleFlightCache.Weigher<String, Integer> weigher) {
        return new SingleFlightCache<>(
                MAX_AGE,
                100,
                weigher,
                new WeightByOwner<>(key -> key.substring(0, 1), _ -> 4),
                nanos::incrementAndGet,
                (_, _) -> reads.incrementAndGet());
    }

    @Test
    void an_owner_who_takes_more_than_its_share_loses_its_own_values() {
        SingleFlightCache<String, Integer> cache = shared((_, _) -> 1);
        cache.get("a:0");
        for (int i = 0; i < 10; i++) {
            cache.get("b:" + i);
            assertTrue(owned(cache, "b").size() <= 4);
        }
        assertTrue(owned(cache, "b").contains("b:9"));
        assertEquals(Set.of("a:0"), owned(cache, "a"));
        assertEquals(1, cache.get("a:0"));
    }

    @Test
    void a_value_that_is_more_than_its_owners_share_is_not_kept() {
        SingleFlightCache<String, Integer> cache = shared((key, _) -> key.endsWith("!") ? 5 : 1);
        cache.get("a:0");
        assertEquals(2, cache.get("a:!"));
        assertEquals(Set.of("a:0"), owned(cache, "a"));
        assertEquals(3, cache.get("a:!"));
    }

    @Test
    void a_value_that_was_dropped_weighs_nothing() {
        AtomicInteger weight = new AtomicInteger(3);
        SingleFlightCache<String, Integer> cache = shared((_, _) -> weight.get());
        cache.get("a:0");
        cache.get("a:1");
        assertEquals(Set.of("a:1"), owned(cache, "a"));
        weight.set(1);
        cache.renew("a:1");
        cache.get("a:2");
        cache.get("a:3");
        cache.get("a:4");
        assertEquals(4, owned(cache, "a").size());
    }

    @Test
    void a_value_that_its_user_knows_to_be_outdated_is_read_again() {
        cache.get("a");
        assertEquals(1, cache.get("a", value -> value == 1));
        assertEquals(2, cache.get("a", value -> value == 2));
        assertEquals(2, cache.get("a"));
    }

    private static Set<String> owned(SingleFlightCache<String, Integer> cache, String owner) {
        return cache.held().values().keySet().stream()
                .filter(key -> key.startsWith(owner))
                .collect(Collectors.toSet());
    }

    @Test
    void a_key_weighs_as_well_as_its_value() {
        SingleFlightCache<String, Integer> heavy =
                new SingleFlightCache<>(
                        MAX_AGE,
                        10,
                        (key, _) -> key.length(),
                        nanos::incrementAndGet,
                        (_, _) -> reads.incrementAndGet());
        heavy.get("a");
        heavy.get("b");
        assertEquals(2, heavy.held().values().size());
        heavy.get("a key that is longer than all that may be kept");
        Eventually.holds(() -> heavy.held().values().size() <= 2);
    }

    @Test
    void others_use_the_last_value_while_it_is_renewed() throws Exception {
        CountDownLatch reading = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        SingleFlightCache<String, Integer> slow =
                new SingleFlightCache<>(
                        MAX_AGE,
                        10,
                        nanos::incrementAndGet,
                        (_, known) -> {
                            if (known != null) {
                                reading.countDown();
                                Unchecked.await(goOn);
                            }
                            return reads.incrementAndGet();
                        });
        assertEquals(1, slow.get("a"));
        CompletableFuture<Void> renewal = CompletableFuture.runAsync(() -> slow.renew("a"));
        reading.await();
        assertEquals(1, slow.get("a"));
        goOn.countDown();
        renewal.join();
        assertEquals(2, slow.get("a"));
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
                            Unchecked.await(goOn);
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
}
