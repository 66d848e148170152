package io.mintmark.base.outbound;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** Name servers that hang, seen through the resolver that every outbound connection uses. */
class BoundedLookupTest {
    private static final InetAddress PUBLIC = InetAddress.ofLiteral("93.184.216.34");

    private final AtomicInteger lookups = new AtomicInteger();
    private final AtomicInteger hanging = new AtomicInteger();
    private final CountDownLatch answered = new CountDownLatch(1);
    private final List<Thread> asking = new CopyOnWriteArrayList<>();
    private final ExecutorService askers = Executors.newThreadPerTaskExecutor(this::asker);
    private final Destinations destinations = new Destinations(List.of(), this::lookUp);

    private Thread asker(Runnable task) {
        Thread asker = Thread.ofVirtual().unstarted(task);
        asking.add(asker);
        return asker;
    }

    /** Names that begin with "slow" have to wait. */
    private InetAddress[] lookUp(String host) {
        lookups.incrementAndGet();
        if (host.startsWith("slow")) {
            hanging.incrementAndGet();
            try {
                answered.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                hanging.decrementAndGet();
            }
        }
        return new InetAddress[] {PUBLIC};
    }

    @AfterEach
    void close() {
        answered.countDown();
        askers.shutdownNow();
        askers.close();
    }

    @Test
    void a_name_is_looked_up_again_after_no_thread_could_be_started() throws Exception {
        AtomicInteger refused = new AtomicInteger();
        BoundedLookup lookup =
                new BoundedLookup(
                        this::lookUp,
                        task -> {
                            if (refused.incrementAndGet() <= 2 * BoundedLookup.OF_AN_OWNER) {
                                throw new OutOfMemoryError("unable to create native thread");
                            }
                            Thread.ofVirtual().start(task);
                        });
        for (int i = 0; i < 2 * BoundedLookup.OF_AN_OWNER; i++) {
            UnknownHostException failed =
                    assertThrows(
                            UnknownHostException.class,
                            () -> lookup.addresses("acme", "api.example"));
            assertTrue(
                    String.valueOf(failed.getMessage()).contains("native thread"),
                    failed.getMessage());
        }
        assertArrayEquals(new InetAddress[] {PUBLIC}, lookup.addresses("acme", "api.example"));
    }

    @Test
    void a_name_that_many_ask_for_is_looked_up_once() throws Exception {
        List<Future<InetAddress[]>> all =
                List.of(
                        ask("acme", "slow.example"),
                        ask("acme", "slow.example"),
                        ask("globex", "slow.example"));
        Eventually.holds(
                () -> hanging.get() == 1 && asking.stream().allMatch(BoundedLookupTest::waits));

        answered.countDown();

        for (Future<InetAddress[]> each : all) {
            assertArrayEquals(new InetAddress[] {PUBLIC}, each.get());
        }
        assertEquals(1, lookups.get());
    }

    @Test
    void a_tenant_whose_name_servers_hang_leaves_threads_to_others() throws Exception {
        for (int i = 0; i < 2 * BoundedLookup.OF_AN_OWNER; i++) {
            var _ = ask("acme", "slow.domain-%d.example-%d".formatted(i, i));
        }
        Eventually.holds(() -> hanging.get() == BoundedLookup.OF_AN_OWNER);

        assertFound("globex", "quick.test");
        assertFound("", "quick.test");
        assertEquals(BoundedLookup.OF_AN_OWNER, hanging.get());
        assertTold(
                "too many DNS lookups are in progress to look up other.test", "acme", "other.test");
    }

    @Test
    void a_name_that_a_tenant_has_no_thread_for_is_looked_up_for_the_next_that_waits()
            throws Exception {
        for (int i = 0; i < BoundedLookup.OF_AN_OWNER; i++) {
            var _ = ask("acme", "slow-%d.example".formatted(i));
        }
        Eventually.holds(() -> hanging.get() == BoundedLookup.OF_AN_OWNER);

        Future<InetAddress[]> refused = ask("acme", "shared.test");
        Eventually.holds(() -> asking.stream().allMatch(BoundedLookupTest::waits));
        assertFound("globex", "shared.test");
        Eventually.holds(() -> refused.state() == Future.State.FAILED);
    }

    @Test
    void however_many_names_hang_there_are_so_many_threads_and_the_rest_fails() {
        for (int i = 0; i < 4 * BoundedLookup.AT_A_TIME; i++) {
            var _ = ask("tenant-" + i % 64, "slow-%d.example".formatted(i));
        }
        Eventually.holds(() -> hanging.get() == BoundedLookup.AT_A_TIME);

        assertTold(
                "too many DNS lookups are in progress to look up quick.test", "acme", "quick.test");
        assertEquals(BoundedLookup.AT_A_TIME, hanging.get());
    }

    @Test
    void who_finds_too_many_waiting_does_not_wait() {
        int served = BoundedLookup.WAITING + BoundedLookup.AT_A_TIME;
        List<Future<InetAddress[]>> all =
                IntStream.range(0, served + 100)
                        .mapToObj(i -> ask("tenant-" + i, "slow-%d.example".formatted(i)))
                        .toList();

        Eventually.holds(() -> all.stream().anyMatch(BoundedLookupTest::wasTurnedAway));
        assertTrue(hanging.get() <= BoundedLookup.AT_A_TIME);
    }

    private static boolean wasTurnedAway(Future<InetAddress[]> lookup) {
        return lookup.state() == Future.State.FAILED
                && String.valueOf(lookup.exceptionNow().getMessage())
                        .startsWith("too many DNS lookups are waiting");
    }

    @Test
    void what_hung_is_looked_up_anew_when_it_has_ended() throws Exception {
        Future<InetAddress[]> first = ask("acme", "slow.example");
        Eventually.holds(() -> hanging.get() == 1);
        answered.countDown();
        first.get();

        assertFound("acme", "slow.example");
        assertEquals(2, lookups.get());
    }

    private static boolean waits(Thread asker) {
        return asker.getState() == Thread.State.TIMED_WAITING;
    }

    private Future<InetAddress[]> ask(String owner, String host) {
        return askers.submit(() -> destinations.resolver(owner).resolve(host));
    }

    private void assertFound(String owner, String host) throws UnknownHostException {
        assertArrayEquals(new InetAddress[] {PUBLIC}, destinations.resolver(owner).resolve(host));
    }

    private void assertTold(String message, String owner, String host) {
        assertEquals(
                message,
                assertThrows(
                                UnknownHostException.class,
                                () -> destinations.resolver(owner).resolve(host))
                        .getMessage());
    }
}
