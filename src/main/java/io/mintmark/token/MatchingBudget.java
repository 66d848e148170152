package io.mintmark.token;

import io.mintmark.tenant.TenantName;
import io.mintmark.verdict.Unavailable;

import java.time.Duration;

/**
 * How much work it may be to hold one token against the rules of its tenant. A step is about a
 * character that is looked at, a few nanoseconds. What needs more than the budget is refused, so
 * that no tenant's rules, however they came about, can take the processor from the others; and what
 * needs much of it lets others go first now and then.
 *
 * <p>Of one request, and of one thread at a time.
 */
public final class MatchingBudget {
    /** Some milliseconds; a usual request takes a few hundred steps. */
    public static final long STEPS = 250_000;

    /** After so many steps other virtual threads that can run do so first. */
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
     * A budget for the rules that belong to no tenant. It goes on no tenant's account, and is never
     * used up: the database refuses more of those rules than {@link #STEPS} are enough for, and a
     * character of the database is at most two here.
     */
    public static MatchingBudget ofRulesOfAllTenants() {
        return new MatchingBudget("of all tenants", 2 * STEPS);
    }

    /**
     * To be called before the work is done.
     *
     * @throws Unavailable if that is more than is left
     */
    public void spend(long steps) {
        spent += steps;
        if (spent > limit) {
            throw new Unavailable(
                    "The rules %s cost too much to evaluate.".formatted(owner), LATER);
        }
        if (spent >= nextPause) {
            nextPause = spent + SLICE;
            letOthersGoFirst();
        }
    }

    /** Of virtual threads that is sure: one that yields goes behind all that can run. */
    @SuppressWarnings("ThreadPriorityCheck")
    private static void letOthersGoFirst() {
        Thread.yield();
    }

    /** The steps so far, those that were refused included. */
    public long spent() {
        return spent;
    }
}
