package io.mintmark.exchange;

import io.mintmark.audit.Receipt;
import io.mintmark.grant.Granted;
import io.mintmark.mint.FreshDecision;
import io.mintmark.mint.MintResult.NotCalled.Why;
import io.mintmark.mint.OutdatedDecision;
import io.mintmark.time.Clocks;
import io.mintmark.time.TimeBounds;
import io.mintmark.verdict.Unavailable;
import io.mintmark.verdict.Verdict;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Whether the decision behind an intent stands: in the state that the commit of the intent found,
 * and after that in one that is at most a second old whenever a request to a provider leaves. So
 * neither a wait for the bulkhead, for a token of the broker's or for a connection, nor a pause of
 * the whole process has a provider called on a grant that was revoked meanwhile.
 *
 * <p>The age is measured by {@link System#nanoTime}, which goes on on Linux while a process is
 * stopped, and stands still while the whole machine is suspended.
 */
final class DecisionCheck implements FreshDecision {
    private static final Duration MAX_AGE = Duration.ofSeconds(1);

    /** A database that takes over a second to answer is asked again so often. */
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
     * @param decided when it was decided
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

    /** The result of the last check of the token, in the last known state of the tenant. */
    Verdict<Admitted> admitted() {
        return admitted;
    }

    /**
     * Returns the intent after its commit, if the commit found the state that the intent was
     * decided in, and no grant has expired meanwhile. In any other state the intent is void, even
     * if its decision would be the same, so that the row {@code requested} of every mint names a
     * state that was current when the row was committed. {@code audit verify} proves mints by that
     * state.
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
            throw new OutdatedDecision(
                    Why.STATE_UNKNOWN,
                    "the database needs over a second to return the subject's grants");
        }
    }

    private void admitAgain() {
        admitted = admission.admitAgain(request.token(), request.caller(), intent.tenant());
    }

    /** The token in the state that was last seen, if the decision is the same there. */
    private Optional<Admitted> current() {
        return admitted instanceof Verdict.Passed<Admitted>(Admitted now)
                        && Decision.of(now, request, decided)
                                instanceof Decision.Allowed(List<Granted> granted)
                        && intent.isFor(granted)
                ? Optional.of(now)
                : Optional.empty();
    }
}
