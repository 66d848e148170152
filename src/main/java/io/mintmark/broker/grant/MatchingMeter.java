package io.mintmark.broker.grant;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.mintmark.base.limit.LeakyBucket;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.token.MatchingBudget;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Limits the CPU time that a tenant's rules take to match, so that not even many concurrent
 * requests give one tenant more than a share of a core. A tenant that has spent more is refused
 * until it has paid that back.
 */
final class MatchingMeter {
    /** Steps that a tenant may take in a second, for long: less than a tenth of a core. */
    static final long STEPS_A_SECOND = 10_000_000;

    /** The maximum number of steps at once. */
    static final long BURST_STEPS = STEPS_A_SECOND;

    private static final long NANOS_A_STEP = Duration.ofSeconds(1).toNanos() / STEPS_A_SECOND;
    private static final int TENANTS_KEPT = 10_000;
    private static final Duration SOON = Duration.ofSeconds(1);
    private static final Duration WARNING_INTERVAL = Duration.ofMinutes(1);
    private static final Logger log = LoggerFactory.getLogger(MatchingMeter.class);

    private final Cache<TenantName, Account> accounts =
            Caffeine.newBuilder().maximumSize(TENANTS_KEPT).executor(Runnable::run).build();
    private final LongSupplier nanos;

    /**
     * @param nanos a clock that only goes forward, in nanoseconds
     */
    MatchingMeter(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** The matching that a tenant has spent, and the time of its last line in the log. */
    private static final class Account {
        private final LeakyBucket bucket;
        private final AtomicLong warnedAt;

        Account(long now) {
            this.bucket = new LeakyBucket(now);
            this.warnedAt = new AtomicLong(now - WARNING_INTERVAL.toNanos());
        }
    }

    /**
     * Makes a decision on a tenant's rules within its budget.
     *
     * @throws Unavailable if it is too much work, or the tenant had too much of it lately
     */
    <T> T within(TenantName tenant, Function<MatchingBudget, T> decision) {
        long now = nanos.getAsLong();
        Account account = accounts.get(tenant, _ -> new Account(now));
        if (account.bucket.untilEmpty(now) > BURST_STEPS * NANOS_A_STEP) {
            warn(account, tenant, now);
            throw new Unavailable(
                    "The rules of tenant '%s' recently cost too much to evaluate; an admin must reduce the tenant's globs and claim conditions."
                            .formatted(tenant),
                    SOON);
        }
        MatchingBudget budget = new MatchingBudget(tenant);
        try {
            return decision.apply(budget);
        } catch (Unavailable e) {
            warn(account, tenant, now);
            throw e;
        } finally {
            long filled = Math.min(budget.spent(), MatchingBudget.STEPS) * NANOS_A_STEP;
            account.bucket.add(now, filled);
        }
    }

    private static void warn(Account account, TenantName tenant, long now) {
        long warnedAt = account.warnedAt.get();
        if (now - warnedAt >= WARNING_INTERVAL.toNanos()
                && account.warnedAt.compareAndSet(warnedAt, now)) {
            log.warn(
                    "The globs or claim conditions of tenant '{}' cost too much to evaluate, so the tenant's requests get 503; an admin must reduce them",
                    tenant);
        }
    }
}
