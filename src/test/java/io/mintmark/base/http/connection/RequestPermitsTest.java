package io.mintmark.base.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helidon.common.concurrency.limits.FixedLimit;
import io.helidon.common.concurrency.limits.LimitAlgorithm.Token;
import io.mintmark.base.http.connection.RequestPermits.Reservation;
import io.mintmark.base.limit.SharedPermits;

import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Semaphore;

class RequestPermitsTest {
    private static final int PERMITS = 4;
    private static final int MEMORY = 20;

    private final Semaphore counted = new Semaphore(PERMITS);
    private final FixedLimit limit = FixedLimit.create(counted);
    private final SharedPermits<String> memory = new SharedPermits<>(MEMORY, MEMORY / 2);

    private RequestPermits connection() {
        return new RequestPermits(limit, memory, () -> false);
    }

    private void assertFree(int permits, int kibibytes) {
        assertEquals(
                List.of(permits, kibibytes),
                List.of(counted.availablePermits(), memory.available()));
    }

    @Test
    void a_permit_lasts_until_the_request_is_answered() {
        Token token = connection().tryAcquire().orElseThrow();
        assertFree(3, 20);
        token.success();
        assertFree(4, 20);
    }

    @Test
    void a_returned_permit_is_the_next_requests_and_the_reservation_lasts() {
        RequestPermits connection = connection();
        Token token = connection.tryAcquire().orElseThrow();
        assertEquals(Optional.of(Reservation.RESERVED), connection.release("a", 5));
        assertFree(4, 15);
        token.dropped();
        assertFree(4, 20);
    }

    @Test
    void a_permit_is_returned_once() {
        RequestPermits connection = connection();
        var _ = connection.tryAcquire();
        assertEquals(Optional.of(Reservation.RESERVED), connection.release("a", 5));
        assertEquals(Optional.empty(), connection.release("a", 5));
        assertFree(4, 15);
    }

    @Test
    void without_free_memory_the_request_keeps_its_permit() {
        RequestPermits connection = connection();
        Token token = connection.tryAcquire().orElseThrow();
        assertEquals(Optional.of(Reservation.OWNER_FULL), connection.release("a", MEMORY / 2 + 1));
        assertFree(3, 20);
        token.ignore();
        assertFree(4, 20);
    }

    @Test
    void one_owner_has_half_of_the_memory_and_all_owners_have_all_of_it() {
        for (String owner : List.of("a", "b")) {
            RequestPermits connection = connection();
            var _ = connection.tryAcquire();
            assertEquals(Optional.of(Reservation.RESERVED), connection.release(owner, MEMORY / 2));
        }
        assertFree(4, 0);
        RequestPermits more = connection();
        var _ = more.tryAcquire();
        assertEquals(Optional.of(Reservation.OWNER_FULL), more.release("a", 1));
        assertEquals(Optional.of(Reservation.FULL), more.release("c", 1));
        assertFree(3, 0);
    }

    @Test
    void a_request_that_needs_no_permit_is_admitted_without_one() {
        for (int i = 0; i < PERMITS; i++) {
            var _ = connection().tryAcquire();
        }
        assertFree(0, 20);
        assertEquals(Optional.empty(), connection().tryAcquire(false));

        RequestPermits outside = new RequestPermits(limit, memory, () -> true);
        Token token = outside.tryAcquire(false).orElseThrow();
        assertEquals(Optional.empty(), outside.release("a", 5));
        assertFree(0, 20);
        token.success();
        assertFree(0, 20);
    }

    @Test
    void a_token_that_ends_twice_ends_once() {
        Token token = connection().tryAcquire().orElseThrow();
        token.success();
        token.dropped();
        assertFree(4, 20);
    }

    @Test
    void without_a_request_there_is_nothing_to_return() {
        RequestPermits connection = connection();
        assertEquals(Optional.empty(), connection.release("a", 1));
        connection.tryAcquire().orElseThrow().success();
        assertEquals(Optional.empty(), connection.release("a", 1));
        assertFree(4, 20);
    }

    /** Whatever requests do, neither permits nor memory are lost or made. */
    @Test
    void random_requests_leave_everything_as_it_was() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<RequestPermits> idle = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            idle.add(connection());
        }
        Deque<Runnable> endings = new ArrayDeque<>();
        for (int i = 0; i < 20_000; i++) {
            if (random.nextBoolean() && !idle.isEmpty()) {
                begin(idle, endings, random);
            } else if (!endings.isEmpty()) {
                endings.remove().run();
            }
            assertTrue(memory.available() >= 0, "seed " + seed);
        }
        endings.forEach(Runnable::run);
        assertFree(PERMITS, MEMORY);
    }

    private static void begin(List<RequestPermits> idle, Deque<Runnable> endings, Random random) {
        RequestPermits connection = idle.removeLast();
        Optional<Token> token = connection.tryAcquire(false);
        if (token.isPresent()) {
            for (int i = random.nextInt(3); i > 0; i--) {
                var _ = connection.release("t" + random.nextInt(4), 1 + random.nextInt(8));
            }
            endings.add(() -> {
                end(token.get(), random.nextInt(3));
                idle.add(connection);
            });
        } else {
            idle.add(connection);
        }
    }

    private static void end(Token token, int how) {
        switch (how) {
            case 0 -> token.success();
            case 1 -> token.dropped();
            default -> token.ignore();
        }
    }
}
