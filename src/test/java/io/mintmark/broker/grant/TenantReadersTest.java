package io.mintmark.broker.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.Unchecked;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;
import java.util.stream.IntStream;

/** How many readers there are at a time. */
class TenantReadersTest {
    private static final CatalogueMemory MEMORY = new CatalogueMemory(256L << 20);
    private static final TenantName ACME = new TenantName("acme");

    private record Read(boolean tooLarge) implements Weighed {
        @Override
        public long bytes() {
            return 0;
        }
    }

    private final TenantReaders readers = new TenantReaders(MEMORY);
    private final CountDownLatch gate = new CountDownLatch(1);
    private final Map<TenantName, AtomicInteger> reading = new ConcurrentHashMap<>();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void stop() {
        gate.countDown();
        threads.close();
    }

    private int readersOf(TenantName tenant) {
        return reading.computeIfAbsent(tenant, _ -> new AtomicInteger()).get();
    }

    private void start(int number, TenantName tenant, LongFunction<Read> read) {
        IntStream.range(0, number).forEach(_ -> threads.execute(() -> readers.read(tenant, read)));
    }

    private Read held(TenantName tenant) {
        reading.computeIfAbsent(tenant, _ -> new AtomicInteger()).incrementAndGet();
        Unchecked.await(gate);
        return new Read(false);
    }

    /** Too large until it is read as something large, and then held. */
    private LongFunction<Read> large(TenantName tenant) {
        return most -> most < MEMORY.large() ? new Read(true) : held(tenant);
    }

    @Test
    void a_tenant_has_two_and_others_do_not_wait_for_them() {
        start(5, ACME, _ -> held(ACME));
        Eventually.holds(() -> readersOf(ACME) == 2);
        TenantName other = new TenantName("other");
        assertEquals(new Read(false), readers.read(other, _ -> new Read(false)));
        assertEquals(2, readersOf(ACME));
        gate.countDown();
        Eventually.holds(() -> readersOf(ACME) == 5);
    }

    @Test
    void something_large_is_read_once_of_a_tenant_and_three_times_of_all() {
        List<TenantName> tenants =
                IntStream.range(0, 5).mapToObj(i -> new TenantName("t" + i)).toList();
        start(2, ACME, large(ACME));
        Eventually.holds(() -> readersOf(ACME) == 1);
        tenants.forEach(tenant -> start(2, tenant, large(tenant)));
        Eventually.holds(
                () -> tenants.stream().mapToInt(this::readersOf).sum() == TenantReaders.LARGE - 1);
        TenantName small = new TenantName("small");
        assertEquals(new Read(false), readers.read(small, _ -> new Read(false)));
        assertEquals(1, readersOf(ACME));
        gate.countDown();
        Eventually.holds(
                () -> tenants.stream().mapToInt(this::readersOf).sum() >= TenantReaders.LARGE);
    }

    @Test
    void a_reading_that_fails_leaves_its_place_to_others() {
        for (int i = 0; i < 3; i++) {
            assertThrows(
                    IllegalStateException.class,
                    () ->
                            readers.read(
                                    ACME,
                                    most -> {
                                        if (most < MEMORY.large()) {
                                            return new Read(true);
                                        }
                                        throw new IllegalStateException("for the test");
                                    }));
        }
        assertEquals(new Read(false), readers.read(ACME, _ -> new Read(false)));
    }

    @Test
    void what_is_too_large_for_all_says_so() {
        assertEquals(new Read(true), readers.read(ACME, _ -> new Read(true)));
    }

    @Test
    void the_parts_of_the_budget_are_no_more_than_a_quarter_of_the_heap_and_an_eighth_of_that() {
        long quarter = MEMORY.heap() / 4;
        long ofTenant = MEMORY.keptOfTenant() + MEMORY.large() + MEMORY.small();
        assertEquals(quarter / 8, ofTenant);
        long kept = MEMORY.tenants() + MEMORY.subjects();
        assertEquals(quarter * 3 / 4, kept);
    }
}
