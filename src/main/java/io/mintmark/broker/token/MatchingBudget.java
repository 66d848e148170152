package io.mintmark.broker.token;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;

import java.time.Duration;

/**
 * The work that matching one token against its tenant's rules may take. A step is about one
 * character, a few nanoseconds. A request that exceeds the budget is refused, so that no tenant's
 * rules can take the processor from others; a long match yields now and then.
 *
 * <p>For one request; not thread-safe.
 */
public final class MatchingBudget {
    /** Some milliseconds; a usual request takes a few hundred steps. */
    public static final long STEPS = 250_000;

    /** The number of steps after which other runnable virtual threads get the processor. */
    private static final long SLICE = 10_000;

    private static final Duration LATER = Duration.ofMinutes(1);

    private final String owner;
    private final long limit;
    private long spent;
    private long nextPause = SLICE;

    /** A budget for one decision on this tenant's rules. */
    public MatchingBudget(TenantName tenant) {
        this("of tenant '" + tenant + "'", STEPS);
    }

    private MatchingBudget(String owner, long limit) {
        this.owner = owner;
        this.limit = limit;
    }

    /**
     * A budget for the rules that belong to no tenant. It counts for no tenant, and is never
     * exceeded: the database rejects more of these rules than {@link #STEPS} suffice for, where a
     * character in the database is at most two here.
     */
    public static MatchingBudget ofRulesOfAllTenants() {
        return new MatchingBudget("of all tenants", 2 * STEPS);
    }

    /**
     * Takes steps from the budget. Call this before doing the work.
     *
     * @throws Unavailable if more steps are taken than are left
     */
    public void spend(long steps) {
        spent += steps;
        if (spent > limit) {
            throw new Unavailable(
                    ("The rules %s cost too much to evaluate; an admin must reduce their globs"
                                    + " and claim conditions.")
                            .formatted(owner),
                    LATER);
        }
        if (spent >= nextPause) {
            nextPause = spent + SLICE;
            letOthersGoFirst();
        }
    }

    /**
     * Lets other threads run. A virtual thread that yields certainly queues behind all runnable
     * ones.
     */
    @SuppressWarnings("ThreadPriorityCheck")
    private static void letOthersGoFirst() {
        Thread.yield();
    }

    /** The steps so far, including refused ones. */
    public long spent() {
        return spent;
    }
}
