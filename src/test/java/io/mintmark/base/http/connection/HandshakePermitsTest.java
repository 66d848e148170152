package io.mintmark.base.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.limit.Network;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

import javax.net.ssl.SSLException;

/** Handshakes that compute at a time. */
class HandshakePermitsTest {
    private static final Network ATTACKER = Network.of(InetAddress.ofLiteral("192.0.2.1"));
    private static final Network OTHER = Network.of(InetAddress.ofLiteral("192.0.2.2"));

    private final HandshakePermits permits = new HandshakePermits(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final AtomicInteger computing = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();

    @Test
    void one_client_leaves_places_to_others() throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 2 * HandshakePermits.MOST_OF_CLIENT; i++) {
                var _ = threads.submit(this::compute);
            }
            Eventually.holds(() -> refused.get() == HandshakePermits.MOST_OF_CLIENT);
            assertEquals(1, computing.get());
            end.countDown();
            permits.run(OTHER, done::incrementAndGet);
        }
        assertEquals(HandshakePermits.MOST_OF_CLIENT + 1, done.get());
        permits.run(ATTACKER, done::incrementAndGet);
    }

    /** Who has waited long has likely left. */
    @Test
    void the_newest_goes_first() throws Exception {
        List<Integer> order = new CopyOnWriteArrayList<>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var _ = threads.submit(this::compute);
            Eventually.holds(() -> computing.get() == 1);
            for (int i = 0; i < 3; i++) {
                int own = i;
                var _ =
                        threads.submit(() -> {
                            permits.run(OTHER, () -> order.add(own));
                            return own;
                        });
                Eventually.holds(() -> permits.waiting() == own + 1);
            }
            end.countDown();
        }
        assertEquals(List.of(2, 1, 0), order);
    }

    @Test
    void one_that_waits_too_long_is_refused() throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var _ = threads.submit(this::compute);
            Eventually.holds(() -> computing.get() == 1);

            SSLException refusal =
                    assertThrows(
                            SSLException.class, () -> permits.run(OTHER, done::incrementAndGet));

            assertTrue(String.valueOf(refusal.getMessage()).contains("too many TLS handshakes"));
            end.countDown();
        }
        assertEquals(1, done.get());
    }

    private void compute() {
        try {
            permits.run(
                    ATTACKER,
                    () -> {
                        computing.incrementAndGet();
                        await();
                        done.incrementAndGet();
                    });
        } catch (SSLException e) {
            refused.incrementAndGet();
        }
    }

    private void await() {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
