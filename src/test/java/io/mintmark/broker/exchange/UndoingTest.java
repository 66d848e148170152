package io.mintmark.broker.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Event;
import io.mintmark.audit.Event.End;
import io.mintmark.audit.Event.How;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.token.TestKey;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

final class UndoingTest {
    private static final MintId MINT = new MintIds(() -> Instant.EPOCH, new SecureRandom()).next();
    private final AuditLog log =
            new AuditLog(
                            new MemoryLog(new MemoryTenant(TestKey.es256("key-1"))),
                            Duration.ofSeconds(5))
                    .start();
    private final Undoing undoing =
            new Undoing(new Records(log), () -> Instant.EPOCH, Duration.ofSeconds(10));
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final CountDownLatch answered = new CountDownLatch(1);

    @AfterEach
    void letGo() {
        answered.countDown();
        log.close();
    }

    @Test
    void a_tenant_whose_provider_hangs_takes_no_others_place() {
        start("hangs", Undoing.MOST_OF_TENANT + 20);
        start("other", 1);
        Eventually.holds(() -> begun.get() == Undoing.MOST_OF_TENANT + 1);

        answered.countDown();
        Eventually.holds(() -> done.get() == Undoing.MOST_OF_TENANT + 1);
        startsOneMore("hangs");
    }

    @Test
    void of_all_tenants_so_many_are_revoked_at_a_time() {
        int tenants = Undoing.MOST / Undoing.MOST_OF_TENANT;
        for (int i = 0; i <= tenants; i++) {
            start("tenant-" + i, Undoing.MOST_OF_TENANT);
        }
        Eventually.holds(() -> begun.get() == Undoing.MOST);

        answered.countDown();
        Eventually.holds(() -> done.get() == Undoing.MOST);
        startsOneMore("tenant-" + tenants);
    }

    @Test
    void an_undo_that_throws_gives_its_place_back() {
        for (int i = 0; i < 3 * Undoing.MOST_OF_TENANT; i++) {
            int before = begun.get();
            Eventually.holds(() -> {
                undoing.start(
                        new TenantName("acme"),
                        MINT,
                        _ -> {
                            begun.incrementAndGet();
                            throw new IllegalStateException("for the test");
                        },
                        UndoingTest::ended);
                return begun.get() > before;
            });
        }
        assertTrue(begun.get() >= 3 * Undoing.MOST_OF_TENANT);
    }

    @Test
    void a_revocation_has_until_its_deadline() {
        undoing.start(
                new TenantName("acme"),
                MINT,
                deadline -> {
                    assertEquals(Instant.EPOCH.plusSeconds(10), deadline);
                    done.incrementAndGet();
                    return Optional.of("not found");
                },
                UndoingTest::ended);
        Eventually.holds(() -> done.get() == 1);
    }

    /** A place is given back a moment after its revocation is done. */
    private void startsOneMore(String tenant) {
        int before = begun.get();
        Eventually.holds(() -> {
            start(tenant, 1);
            return begun.get() > before;
        });
    }

    private void start(String tenant, int count) {
        for (int i = 0; i < count; i++) {
            undoing.start(
                    new TenantName(tenant),
                    MINT,
                    _ -> {
                        begun.incrementAndGet();
                        await();
                        done.incrementAndGet();
                        return Optional.empty();
                    },
                    UndoingTest::ended);
        }
    }

    private static Event ended(Instant at) {
        End end =
                new End(
                        new TenantName("acme"),
                        new ProviderName("cloud"),
                        "aws-sts",
                        Optional.empty());
        return Event.ended(MINT, at, new KeyName("deploy"), end, How.UNDONE, Optional.empty());
    }

    private void await() {
        Unchecked.await(answered);
    }
}
