package io.mintmark.mint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Eventually;
import io.mintmark.mint.MintResult.Failed;
import io.mintmark.tenant.TenantName;
import io.mintmark.verdict.MintRefusal.Reason;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

class TurnsTest {
    private static final TenantName ACME = new TenantName("acme");

    private final Turns turns = new Turns(InstantSource.system());
    private final HeldCalls held = new HeldCalls();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        held.letGo();
        threads.close();
    }

    @Test
    void a_provider_gets_so_many_calls_and_no_more() {
        hold(Turns.OF_A_PROVIDER, "slow");

        assertThrottled(
                "32 calls to access provider 'slow' are under way", hurried("acme", "slow"));
        assertEquals(Turns.OF_A_PROVIDER, held.begun());
    }

    @Test
    void a_slow_provider_leaves_its_tenants_others_room() {
        hold(Turns.OF_A_PROVIDER, "slow");

        assertEquals(HeldCalls.ANSWER, answered("acme", "quick"));
    }

    @Test
    void a_tenant_gets_so_many_calls_and_no_more() {
        hold(Turns.OF_A_PROVIDER, "slow");
        hold(Turns.OF_A_PROVIDER, "slower");

        assertEquals(Turns.OF_A_TENANT, held.begun());
        assertThrottled("64 calls of the tenant are under way", hurried("acme", "quick"));
    }

    @Test
    void a_tenant_that_has_all_its_calls_leaves_the_others_alone() {
        hold(Turns.OF_A_PROVIDER, "slow");
        hold(Turns.OF_A_PROVIDER, "slower");

        assertEquals(HeldCalls.ANSWER, answered("other", "slow"));
    }

    @Test
    void what_waits_has_its_turn_when_another_ends() throws Exception {
        List<Future<MintResult>> all = hold(Turns.OF_A_PROVIDER, "slow");
        Future<MintResult> waiting =
                threads.submit(() -> turns.take(order("acme", "slow", 60), held::call));
        Eventually.holds(() -> turns.present(ACME) == Turns.OF_A_PROVIDER + 1);
        assertEquals(Turns.OF_A_PROVIDER, held.begun());

        held.letGo();

        assertEquals(HeldCalls.ANSWER, waiting.get());
        for (Future<MintResult> each : all) {
            assertEquals(HeldCalls.ANSWER, each.get());
        }
        assertEquals(HeldCalls.ANSWER, answered("acme", "slow"));
    }

    @Test
    void only_so_many_wait() {
        hold(Turns.OF_A_PROVIDER, "slow");
        for (int i = Turns.OF_A_PROVIDER; i < Turns.PRESENT; i++) {
            var _ = threads.submit(() -> turns.take(order("acme", "slow", 600), held::call));
        }
        Eventually.holds(() -> turns.present(ACME) == Turns.PRESENT);

        assertThrottled(
                "256 calls of the tenant are under way or wait",
                turns.take(order("acme", "quick", 600), () -> HeldCalls.ANSWER));
        assertEquals(HeldCalls.ANSWER, answered("other", "slow"));
    }

    @Test
    void tenants_that_have_nothing_under_way_are_forgotten() {
        hold(1, "slow");
        for (int i = 0; i < 1000; i++) {
            answered("tenant-" + i, "quick");
        }
        assertEquals(1, turns.tenants());

        held.letGo();

        Eventually.holds(() -> turns.tenants() == 0);
        assertEquals(0, turns.present(ACME));
    }

    @Test
    void a_call_that_fails_ends_its_turn() {
        for (int i = 0; i <= Turns.OF_A_TENANT; i++) {
            try {
                turns.take(
                        order("acme", "slow", 60),
                        () -> {
                            throw new IllegalStateException("a fault");
                        });
            } catch (IllegalStateException e) {
                assertEquals("a fault", e.getMessage());
            }
        }

        assertEquals(0, turns.tenants());
    }

    @Test
    void who_is_interrupted_while_waiting_sends_nothing() {
        hold(Turns.OF_A_PROVIDER, "slow");
        Thread.currentThread().interrupt();

        MintResult result = answered("acme", "slow");

        assertTrue(Thread.interrupted());
        assertEquals(
                new Failed(Reason.PROVIDER_TIMEOUT, "nobody waits any more; nothing was sent"),
                result);
        assertEquals(Turns.OF_A_PROVIDER, held.begun());
    }

    /** Calls that are under way when this returns. */
    private List<Future<MintResult>> hold(int calls, String provider) {
        int before = held.begun();
        List<Future<MintResult>> all = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            all.add(threads.submit(() -> turns.take(order("acme", provider, 60), held::call)));
        }
        Eventually.holds(() -> held.begun() == before + calls);
        return all;
    }

    private MintResult answered(String tenant, String provider) {
        return turns.take(order(tenant, provider, 60), () -> HeldCalls.ANSWER);
    }

    /** A call that has little time. */
    private MintResult hurried(String tenant, String provider) {
        return turns.take(order(tenant, provider, 1), () -> HeldCalls.ANSWER);
    }

    private static void assertThrottled(String why, MintResult result) {
        assertEquals(
                new Failed(
                        Reason.PROVIDER_THROTTLED,
                        why + ", which is as many as there may be; nothing was sent"),
                result);
    }

    private static MintOrder order(String tenant, String provider, int seconds) {
        return Orders.of(
                tenant,
                provider,
                Orders.of("fake", "{}", "{}").within(Duration.ofSeconds(seconds)).order());
    }
}
