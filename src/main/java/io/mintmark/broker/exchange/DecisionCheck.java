package io.mintmark.broker.exchange;

import io.mintmark.audit.Receipt;
import io.mintmark.base.time.Clocks;
import io.mintmark.base.time.TimeBounds;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.grant.Granted;
import io.mintmark.provider.FreshDecision;
import io.mintmark.provider.MintResult.NotCalled.Why;
import io.mintmark.provider.OutdatedDecision;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Checks that the decision behind an intent still holds, so that no provider is called on a revoked
 * grant. The first check uses the state that the commit of the intent returned. Before each request
 * to a provider, another check reads the state again if the last one is more than a second old:
 * waits for the bulkhead, for a token or for a connection, and pauses of the process take time.
 *
 * <p>{@link System#nanoTime} measures the age. On Linux it counts while the process is stopped, but
 * not while the machine is suspended.
 */
final class DecisionCheck implements FreshDecision {
    private static final Duration MAX_AGE = Duration.ofSeconds(1);

    /**
     * The delay after which a thread that sleeps for a millisecond runs again, if the replica is
     * short of CPU.
     */
    private static final Duration LONG_WAIT = Duration.ofMillis(100);

    /**
     * The number of times that the state is read if the database takes over a second to return it.
     */
    private static final int ATTEMPTS = 3;

    private final Admission admission;
    private final MintRequest request;
    private final Intent intent;
    private final TimeBounds decided;
    private final Clocks clocks;
    private final ReentrantLock asking = new ReentrantLock();
    private volatile Verdict<Admitted> admitted;
    private volatile long asOf;

    /**
     * Whether a check found that the decision no longer holds. It is then overtaken for every key
     * of the request: a rejected token is verified, and its row written, once.
     */
    private boolean overtaken;

    /**
     * @param decided when the broker made the decision
     */
    DecisionCheck(
            Admission admission,
            MintRequest request,
            Intent intent,
            TimeBounds decided,
            Clocks clocks) {
        this.admission = admission;
        this.request = request;
        this.intent = intent;
        this.decided = decided;
        this.clocks = clocks;
        this.admitted = Verdict.passed(intent.admitted());
    }

    /** Returns the result of the last check of the token. */
    Verdict<Admitted> admitted() {
        return admitted;
    }

    /**
     * Returns the intent after its commit, if the tenant's state did not change and no grant
     * expired since the decision. If the state changed, the result is empty even if the decision
     * would be the same: the row {@code requested} of every mint names the state that was current
     * at its commit, and {@code audit verify} proves the mint by that state.
     *
     * @throws Unavailable if a changed state can't be read
     */
    Optional<Intent> after(Receipt commit) {
        asOf = commit.asOf();
        if (!intent.isOf(commit.state(intent.tenant()))) {
            admitAgain();
            return Optional.empty();
        }
        return intent.asOf(clocks.now());
    }

    @Override
    public void require() {
        if (isYoung()) {
            return;
        }
        try {
            asking.lockInterruptibly();
            try {
                lookAgain();
            } finally {
                asking.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new OutdatedDecision(Why.STATE_UNKNOWN, "the request was cancelled");
        } catch (Unavailable e) {
            throw new OutdatedDecision(
                    Why.STATE_UNKNOWN,
                    "the subject's grants could not be read again: " + e.getMessage());
        }
    }

    private boolean isYoung() {
        return clocks.nanos() - asOf <= MAX_AGE.toNanos();
    }

    private void lookAgain() {
        for (int attempt = 0; attempt < ATTEMPTS && !overtaken && !isYoung(); attempt++) {
            long asked = clocks.nanos();
            admitAgain();
            overtaken = current().flatMap(_ -> intent.asOf(clocks.now())).isEmpty();
            if (!overtaken) {
                asOf = asked;
            }
        }
        if (overtaken) {
            throw new OutdatedDecision(
                    Why.DECISION_CHANGED,
                    "the configuration changed, or a grant or the token ended, before the"
                            + " provider was called");
        }
        if (!isYoung()) {
            throw isShortOfCpu()
                    ? new OutdatedDecision(
                            Why.REPLICA_BUSY,
                            "this replica is short of CPU: it took over a second to read the subject's grants again")
                    : new OutdatedDecision(
                            Why.STATE_UNKNOWN,
                            "the database took over a second to return the subject's grants");
        }
    }

    /** Whether a thread that is ready to run has to wait long for a processor. */
    private boolean isShortOfCpu() {
        long began = clocks.nanos();
        LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
        return clocks.nanos() - began > LONG_WAIT.toNanos();
    }

    private void admitAgain() {
        admitted = admission.admitAgain(request.token(), request.caller(), intent.tenant());
    }

    /** Returns the token in the state that was read last, if the decision is the same there. */
    private Optional<Admitted> current() {
        return admitted instanceof Verdict.Passed<Admitted>(Admitted now)
                        && Decision.of(now, request, decided)
                                instanceof Decision.Allowed(List<Granted> granted)
                        && intent.isFor(granted)
                ? Optional.of(now)
                : Optional.empty();
    }
}
