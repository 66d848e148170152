package io.mintmark.broker.approval;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.limit.SharedPermits.Permit;
import io.mintmark.base.tenant.TenantName;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

class StatementPermitsTest {
    private static final TenantName ACME = new TenantName("acme");
    private static final List<TenantName> MANY =
            IntStream.range(0, 8).mapToObj(n -> new TenantName("slow-" + n)).toList();

    private final AtomicLong nanos = new AtomicLong();
    private final StatementPermits permits = new StatementPermits(nanos::get);

    @Test
    void slow_tenants_together_leave_half_of_the_permits() {
        MANY.forEach(tenant -> statement(tenant, StatementPermits.SLOW.plusNanos(1)));
        assertEquals(
                StatementPermits.HALF,
                MANY.stream().filter(tenant -> now(tenant).isPresent()).count());
        assertTrue(now(ACME).isPresent());
        assertTrue(now(ACME).isPresent());
        assertFalse(now(ACME).isPresent(), "a tenant holds at most half");
    }

    @Test
    void statements_that_are_not_slow_take_the_permits_of_their_tenant() {
        MANY.forEach(tenant -> statement(tenant, StatementPermits.SLOW));
        assertEquals(
                StatementPermits.ALL,
                MANY.stream().filter(tenant -> now(tenant).isPresent()).count());
    }

    @Test
    void a_slow_statement_is_forgotten_after_its_time() {
        MANY.forEach(tenant -> statement(tenant, StatementPermits.SLOW.plusNanos(1)));
        assertEquals(MANY.size(), permits.slowTenants());
        nanos.addAndGet(
                StatementPermits.REMEMBERED
                        .plus(StatementPermits.SLOW.multipliedBy(MANY.size()))
                        .toNanos());
        assertEquals(
                StatementPermits.ALL,
                MANY.stream().filter(tenant -> now(tenant).isPresent()).count());
        assertEquals(0, permits.slowTenants());
    }

    @Test
    void a_tenant_holds_no_more_while_it_is_forgotten() {
        statement(ACME, StatementPermits.SLOW.plusNanos(1));
        assertTrue(now(ACME).isPresent());
        assertTrue(now(ACME).isPresent());
        nanos.addAndGet(StatementPermits.REMEMBERED.plus(StatementPermits.SLOW).toNanos());
        assertFalse(now(ACME).isPresent());
        assertTrue(now(MANY.getFirst()).isPresent());
    }

    @Test
    void a_slow_tenant_without_a_permit_of_its_own_keeps_none_from_other_slow_ones() {
        statement(ACME, StatementPermits.SLOW.plusNanos(1));
        statement(MANY.getFirst(), StatementPermits.SLOW.plusNanos(1));
        try (Permit _ = now(MANY.get(1)).orElseThrow();
                Permit _ = now(MANY.get(1)).orElseThrow();
                Permit _ = now(MANY.get(2)).orElseThrow();
                Permit _ = now(MANY.get(2)).orElseThrow()) {
            assertFalse(now(ACME).isPresent());
        }
        assertTrue(now(MANY.getFirst()).isPresent());
        assertTrue(now(MANY.getFirst()).isPresent());
    }

    private void statement(TenantName tenant, Duration time) {
        try (Permit _ = now(tenant).orElseThrow()) {
            nanos.addAndGet(time.toNanos());
        }
    }

    private Optional<Permit> now(TenantName tenant) {
        return permits.acquire(tenant, Duration.ZERO);
    }
}
