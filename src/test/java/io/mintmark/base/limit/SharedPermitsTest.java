package io.mintmark.base.limit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.limit.SharedPermits.Permit;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

class SharedPermitsTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final SharedPermits<String> permits = new SharedPermits<>(8, 2);

    private Optional<Permit> take(String owner) {
        return permits.acquire(owner, Duration.ZERO);
    }

    @Test
    void an_owner_has_a_part_and_others_the_rest() {
        assertTrue(take("acme").isPresent());
        Permit second = take("acme").orElseThrow();
        assertEquals(Optional.empty(), take("acme"));
        assertTrue(take("globex").isPresent());
        second.close();
        assertTrue(take("acme").isPresent());
        assertEquals(Optional.empty(), take("acme"));
    }

    @Test
    void all_owners_have_all_of_them() {
        for (int i = 0; i < 8; i++) {
            assertTrue(take("tenant-" + i / 2).isPresent());
        }
        assertEquals(Optional.empty(), take("acme"));
    }

    @Test
    void who_waits_gets_the_permit_that_is_given_back() {
        List<Permit> taken = List.of(take("acme").orElseThrow(), take("acme").orElseThrow());
        CompletableFuture<Optional<Permit>> waiting =
                CompletableFuture.supplyAsync(() -> permits.acquire("acme", LONG));
        taken.getFirst().close();
        assertTrue(waiting.join().isPresent());
    }

    /** As the call has been whose answer came after the deadline. */
    @Test
    void an_interrupted_thread_takes_permits_that_it_would_not_wait_for() {
        Thread.currentThread().interrupt();
        Optional<Permit> taken = permits.acquire("acme", 1);
        assertTrue(Thread.interrupted());
        assertTrue(taken.isPresent());
    }

    @Test
    void an_interrupted_wait_takes_nothing_however_short() {
        Thread.currentThread().interrupt();
        assertEquals(Optional.empty(), permits.acquire("acme", LONG));
        assertEquals(Optional.empty(), permits.acquire("acme", Duration.ZERO));
        assertTrue(Thread.interrupted());
        for (int i = 0; i < 2; i++) {
            assertTrue(take("acme").isPresent());
        }
    }

    @Test
    void several_permits_are_taken_together_or_none() {
        assertEquals(Optional.empty(), permits.acquire("acme", 3));
        Permit two = permits.acquire("acme", 2).orElseThrow();
        assertEquals(0, permits.available("acme"));
        assertEquals(2, permits.available("globex"));
        assertEquals(6, permits.available());
        two.close();
        assertEquals(2, permits.available("acme"));
        assertEquals(8, permits.available());
    }

    @Test
    void a_wait_ends_after_its_timeout() {
        SharedPermits<String> one = new SharedPermits<>(1, 1);
        Permit held = one.acquire("globex", Duration.ZERO).orElseThrow();
        long began = System.nanoTime();
        assertEquals(Optional.empty(), one.acquire("acme", Duration.ofMillis(300)));
        long waited = System.nanoTime() - began;
        assertTrue(waited >= Duration.ofMillis(300).toNanos(), waited + " ns");
        held.close();
        assertTrue(one.acquire("acme", Duration.ZERO).isPresent());
    }

    @Test
    void more_permits_go_to_who_waits_and_fewer_take_none_back() {
        List<Permit> held = List.of(take("acme").orElseThrow(), take("acme").orElseThrow());
        CompletableFuture<Optional<Permit>> waiting =
                CompletableFuture.supplyAsync(() -> permits.acquire("acme", LONG));
        permits.resize(9, 3);
        Permit third = waiting.join().orElseThrow();

        permits.resize(2, 1);
        assertEquals(-2, permits.available("acme"));
        assertEquals(-1, permits.available());
        held.forEach(Permit::close);
        assertEquals(Optional.empty(), take("acme"));
        third.close();
        assertTrue(take("acme").isPresent());
        assertEquals(1, permits.available());
    }

    @Test
    void an_owner_without_permits_is_forgotten() {
        for (int i = 0; i < 1_000; i++) {
            take("tenant-" + i).orElseThrow().close();
            assertEquals(Optional.empty(), permits.acquire("tenant-" + i, 3));
        }
        assertEquals(0, permits.owners());
    }

    /** Whatever owners do at random, the numbers are those of the plainest model. */
    @RepeatedTest(20)
    void every_decision_is_that_of_the_model() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<Permit> held = new ArrayList<>();
        Map<String, Integer> ofOwner = new HashMap<>();
        int all = 8;
        int most = 2;
        for (int i = 0; i < 2_000; i++) {
            int taken = ofOwner.values().stream().mapToInt(Integer::intValue).sum();
            switch (random.nextInt(8)) {
                case 0 -> {
                    all = 1 + random.nextInt(12);
                    most = 1 + random.nextInt(4);
                    permits.resize(all, most);
                }
                case 1, 2, 3 -> {
                    if (!held.isEmpty()) {
                        held.remove(random.nextInt(held.size())).close();
                    }
                }
                default -> {
                    String owner = "tenant-" + random.nextInt(6);
                    int count = 1 + random.nextInt(2);
                    boolean fits =
                            ofOwner.getOrDefault(owner, 0) + count <= most && taken + count <= all;
                    Optional<Permit> permit = permits.acquire(owner, count);
                    assertEquals(fits, permit.isPresent(), "seed " + seed);
                    permit.ifPresent(one -> {
                        ofOwner.merge(owner, count, Integer::sum);
                        held.add(() -> {
                            one.close();
                            ofOwner.merge(owner, -count, Integer::sum);
                        });
                    });
                }
            }
        }
        held.forEach(Permit::close);
        assertEquals(all, permits.available(), "seed " + seed);
        assertEquals(0, permits.owners(), "seed " + seed);
    }

    @Test
    @SuppressWarnings("ThreadPriorityCheck") // so that others try while it holds one
    void threads_that_take_and_return_at_the_same_time_keep_to_the_bounds() {
        Map<String, AtomicInteger> byOwner = new HashMap<>();
        AtomicInteger holders = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger mostOfOwner = new AtomicInteger();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 12; i++) {
                String owner = "tenant-" + i / 3;
                AtomicInteger own = byOwner.computeIfAbsent(owner, _ -> new AtomicInteger());
                threads.execute(() -> {
                    for (int round = 0; round < 500; round++) {
                        try (Permit _ = permits.acquire(owner, LONG).orElseThrow()) {
                            most.accumulateAndGet(holders.incrementAndGet(), Math::max);
                            mostOfOwner.accumulateAndGet(own.incrementAndGet(), Math::max);
                            Thread.yield();
                            own.decrementAndGet();
                            holders.decrementAndGet();
                        }
                    }
                });
            }
        }
        assertTrue(most.get() <= 8 && most.get() > 1, most + " at a time");
        assertTrue(mostOfOwner.get() <= 2, mostOfOwner + " of an owner at a time");
        assertEquals(8, permits.available());
        assertEquals(0, permits.owners());
    }
}
