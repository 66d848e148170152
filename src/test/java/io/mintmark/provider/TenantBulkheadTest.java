package io.mintmark.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.MintResult.NotCalled;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

class TenantBulkheadTest {
    private static final TenantName ACME = new TenantName("acme");
    private static final int OF_A_PROVIDER = TenantBulkhead.ofProvider(Orders.MAX_CALLS);
    private static final int OF_OTHERS = Orders.MAX_CALLS - OF_A_PROVIDER;

    private final TenantBulkhead bulkhead = new TenantBulkhead(InstantSource.system());
    private final HeldCalls held = new HeldCalls();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        held.letGo();
        threads.close();
    }

    @Test
    void a_provider_gets_so_many_calls_and_no_more() {
        hold(OF_A_PROVIDER, "slow");

        assertBusy(
                "the tenant has reached its limit of 30 concurrent calls to access provider 'slow' (a share of max_calls)",
                hurried("acme", "slow"));
        assertEquals(OF_A_PROVIDER, held.begun());
    }

    @Test
    void a_slow_provider_leaves_its_tenants_others_room() {
        hold(OF_A_PROVIDER, "slow");

        assertEquals(HeldCalls.ANSWER, answered("acme", "quick"));
    }

    @Test
    void a_tenant_gets_so_many_calls_and_no_more() {
        hold(OF_A_PROVIDER, "slow");
        hold(OF_OTHERS, "slower");

        assertEquals(Orders.MAX_CALLS, held.begun());
        assertBusy(
                "the tenant has reached its limit of 40 concurrent provider calls (max_calls)",
                hurried("acme", "quick"));
    }

    @Test
    void a_tenant_that_has_all_its_calls_leaves_the_others_alone() {
        hold(OF_A_PROVIDER, "slow");
        hold(OF_OTHERS, "slower");

        assertEquals(HeldCalls.ANSWER, answered("other", "slow"));
    }

    @Test
    void what_waits_has_its_turn_when_another_ends() throws Exception {
        List<Future<MintResult>> all = hold(OF_A_PROVIDER, "slow");
        Future<MintResult> waiting =
                threads.submit(() -> bulkhead.call(order("acme", "slow", 60), held::call));
        Eventually.holds(() -> bulkhead.present(ACME) == OF_A_PROVIDER + 1);
        assertEquals(OF_A_PROVIDER, held.begun());

        held.letGo();

        assertEquals(HeldCalls.ANSWER, waiting.get());
        for (Future<MintResult> each : all) {
            assertEquals(HeldCalls.ANSWER, each.get());
        }
        assertEquals(HeldCalls.ANSWER, answered("acme", "slow"));
    }

    @Test
    void only_so_many_wait() {
        hold(OF_A_PROVIDER, "slow");
        List<Future<MintResult>> all =
                Stream.generate(() -> order("acme", "slow", 600))
                        .limit(TenantBulkhead.WAITING + 1)
                        .map(order -> threads.submit(() -> bulkhead.call(order, held::call)))
                        .toList();

        Eventually.holds(() -> all.stream().anyMatch(Future::isDone));

        assertEquals(
                List.of(
                        new NotCalled(
                                NotCalled.Why.TENANT_BUSY,
                                "1024 provider calls of the tenant are already waiting")),
                all.stream().filter(Future::isDone).map(Future::resultNow).toList());
        assertEquals(HeldCalls.ANSWER, answered("acme", "quick"));
        assertEquals(HeldCalls.ANSWER, answered("other", "slow"));
    }

    @Test
    void a_request_that_was_cancelled_calls_nothing() {
        Thread.currentThread().interrupt();
        assertBusy("the request was cancelled", hurried("acme", "slow"));
        assertTrue(Thread.interrupted());
        assertEquals(0, held.begun());
    }

    @Test
    void a_tenant_that_is_given_more_has_more_at_once() {
        hold(OF_A_PROVIDER, "slow");
        assertBusy(
                "the tenant has reached its limit of 30 concurrent calls to access provider 'slow' (a share of max_calls)",
                hurried("acme", "slow"));

        MintOrder more = orders("acme", "slow", 60).bounded(2 * Orders.MAX_CALLS).order();
        assertEquals(HeldCalls.ANSWER, bulkhead.call(more, () -> HeldCalls.ANSWER));
    }

    @Test
    void a_tenant_that_is_given_less_has_less_at_once() {
        hold(OF_OTHERS, "slow");

        MintOrder less = orders("acme", "slow", 1).bounded(OF_OTHERS).order();
        assertBusy(
                "the tenant has reached its limit of 7 concurrent calls to access provider 'slow' (a share of max_calls)",
                bulkhead.call(less, () -> HeldCalls.ANSWER));
    }

    @Test
    void tenants_that_have_nothing_under_way_are_forgotten() {
        hold(1, "slow");
        for (int i = 0; i < 1000; i++) {
            answered("tenant-" + i, "quick");
        }
        assertEquals(1, bulkhead.tenants());

        held.letGo();

        Eventually.holds(() -> bulkhead.tenants() == 0);
        assertEquals(0, bulkhead.present(ACME));
    }

    @Test
    void a_call_that_fails_ends_its_turn() {
        for (int i = 0; i <= Orders.MAX_CALLS; i++) {
            try {
                bulkhead.call(
                        order("acme", "slow", 60),
                        () -> {
                            throw new IllegalStateException("a fault");
                        });
            } catch (IllegalStateException e) {
                assertEquals("a fault", e.getMessage());
            }
        }

        assertEquals(0, bulkhead.tenants());
    }

    @Test
    void who_is_interrupted_while_waiting_sends_nothing() {
        hold(OF_A_PROVIDER, "slow");
        Thread.currentThread().interrupt();

        MintResult result = answered("acme", "slow");

        assertTrue(Thread.interrupted());
        assertEquals(new NotCalled(NotCalled.Why.TENANT_BUSY, "the request was cancelled"), result);
        assertEquals(OF_A_PROVIDER, held.begun());
    }

    /** Starts calls, and returns when all are in flight. */
    private List<Future<MintResult>> hold(int calls, String provider) {
        int before = held.begun();
        List<Future<MintResult>> all = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            all.add(threads.submit(() -> bulkhead.call(order("acme", provider, 60), held::call)));
        }
        Eventually.holds(() -> held.begun() == before + calls);
        return all;
    }

    private MintResult answered(String tenant, String provider) {
        return bulkhead.call(order(tenant, provider, 60), () -> HeldCalls.ANSWER);
    }

    /** A call that has little time. */
    private MintResult hurried(String tenant, String provider) {
        return bulkhead.call(order(tenant, provider, 1), () -> HeldCalls.ANSWER);
    }

    private static void assertBusy(String why, MintResult result) {
        assertEquals(new NotCalled(NotCalled.Why.TENANT_BUSY, why), result);
    }

    private static MintOrder order(String tenant, String provider, int seconds) {
        return orders(tenant, provider, seconds).order();
    }

    private static Orders orders(String tenant, String provider, int seconds) {
        return Orders.of("fake", "{}", "{}")
                .within(Duration.ofSeconds(seconds))
                .of(tenant, provider);
    }
}
