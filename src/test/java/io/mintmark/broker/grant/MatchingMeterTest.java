package io.mintmark.broker.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.tenant.Glob;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.token.MatchingBudget;

import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

class MatchingMeterTest {
    private static final TenantName ACME = new TenantName("acme");
    private static final IdpName IDP = new IdpName("ci");
    private static final String LONGEST = "a:" + "a".repeat(1_022);

    private final AtomicLong nanos = new AtomicLong();
    private final MatchingMeter meter = new MatchingMeter(nanos::get);

    /** As many globs as a tenant may have, as costly as they may be. */
    private static GlobIndex<Grant> worst(int count) {
        return GlobIndex.of(
                IntStream.range(0, count)
                        .mapToObj(i -> glob("a:*a*a*a*a*a*a*b%d**".formatted(i)))
                        .toList());
    }

    private static Grant glob(String pattern) {
        return Grants.within(
                1,
                IDP,
                new SubjectPattern.Matching(new Glob(pattern)),
                new KeyName("key"),
                Optional.empty(),
                Optional.empty());
    }

    @Test
    void a_request_that_is_more_work_than_its_budget_is_refused() {
        GlobIndex<Grant> worst = worst(1_000);
        assertThrows(
                Unavailable.class,
                () -> meter.within(ACME, budget -> worst.matching(IDP, LONGEST, budget)));
    }

    @Test
    void the_rules_of_a_large_tenant_are_well_within_the_budget() {
        List<Grant> grants =
                IntStream.range(0, 1_000)
                        .mapToObj(i -> glob("repo:acme/*:environment:prod-%d".formatted(i)))
                        .toList();
        String subject = "repo:acme/a-service-with-a-long-name:environment:prod-7";
        MatchingBudget budget = new MatchingBudget(ACME);
        assertEquals(List.of(grants.get(7)), GlobIndex.of(grants).matching(IDP, subject, budget));
        assertTrue(budget.spent() < MatchingBudget.STEPS / 4, () -> budget.spent() + " steps");
    }

    /**
     * Alone on its core a budget is a few milliseconds; this is for a machine that is warming up.
     */
    @Test
    void the_costliest_rules_take_no_more_of_a_core_than_the_budget() {
        GlobIndex<Grant> worst = worst(1_000);
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 100; i++) {
            long began = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            assertThrows(
                    Unavailable.class,
                    () -> worst.matching(IDP, LONGEST, new MatchingBudget(ACME)));
            best =
                    Math.min(
                            best,
                            ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - began);
        }
        Duration taken = Duration.ofNanos(best);
        assertTrue(taken.toMillis() < 20, taken::toString);
    }

    @Test
    void a_tenant_that_takes_too_much_for_too_long_is_refused_until_it_has_paused() {
        exhaust();
        assertThrows(Unavailable.class, () -> meter.within(ACME, MatchingMeterTest::spent));
        nanos.addAndGet(Duration.ofSeconds(1).toNanos());
        meter.within(ACME, MatchingMeterTest::spent);
    }

    private void exhaust() {
        for (long taken = 0; taken <= MatchingMeter.BURST_STEPS; taken += MatchingBudget.STEPS) {
            meter.within(ACME, MatchingMeterTest::spent);
        }
    }

    private static boolean spent(MatchingBudget budget) {
        budget.spend(MatchingBudget.STEPS);
        return true;
    }

    @Test
    void what_one_tenant_takes_isnt_the_others() {
        exhaust();
        assertTrue(meter.within(new TenantName("other"), MatchingMeterTest::spent));
    }
}
