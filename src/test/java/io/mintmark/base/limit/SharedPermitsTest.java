package io.mintmark.base.outbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.SharedPermits.Permit;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

class SharedPermitsTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final SharedPermits permits = new SharedPermits(8, 2);

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
        OutboundFailure failure =
                assertThrows(
                        OutboundFailure.class,
                        () -> permits.require("acme", Duration.ZERO, "too much is going on"));
        assertEquals(OutboundFailure.Kind.BUSY, failure.kind());
        assertEquals("too much is going on", failure.getMessage());
    }

    @Test
    void who_waits_gets_the_permit_that_is_given_back() {
        List<Permit> taken = List.of(take("acme").orElseThrow(), take("acme").orElseThrow());
        CompletableFuture<Optional<Permit>> waiting =
                CompletableFuture.supplyAsync(() -> permits.acquire("acme", LONG));
        taken.getFirst().close();
        assertTrue(waiting.join().isPresent());
    }

    @Test
    void an_interrupted_wait_takes_nothing() {
        Thread.currentThread().interrupt();
        assertEquals(Optional.empty(), permits.acquire("acme", LONG));
        assertTrue(Thread.interrupted());
        for (int i = 0; i < 2; i++) {
            assertTrue(take("acme").isPresent());
        }
    }

    /** Whatever owners do, permits are neither lost nor made. */
    @Test
    void random_owners_leave_everything_as_it_was() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<Permit> held = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            if (random.nextBoolean()) {
                take("tenant-" + random.nextInt(6)).ifPresent(held::add);
            } else if (!held.isEmpty()) {
                held.remove(random.nextInt(held.size())).close();
            }
            assertTrue(held.size() <= 8, "seed " + seed);
        }
        held.forEach(Permit::close);
        for (int i = 0; i < 8; i++) {
            assertTrue(take("tenant-" + i / 2).isPresent(), "seed " + seed);
        }
    }
}
