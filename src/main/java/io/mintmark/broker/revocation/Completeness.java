package io.mintmark.broker.revocation;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Whether a list still has all that was revoked. Requests that arrive together share one question,
 * if it was asked after they arrived: what another replica served before is then in the answer.
 */
final class Completeness {
    private final LongSupplier nanos;
    private final ReentrantLock asking = new ReentrantLock();
    private boolean complete = true;
    private long asked;

    /**
     * @param nanos a clock that only goes forward, in nanoseconds
     * @param made when the reading of the list began, by that clock
     */
    Completeness(LongSupplier nanos, long made) {
        this.nanos = nanos;
        this.asked = made;
    }

    /** Answers the question with a result that isn't older than this call. */
    boolean now(BooleanSupplier question) {
        long arrived = nanos.getAsLong();
        asking.lock();
        try {
            if (complete && asked - arrived < 0) {
                long begun = nanos.getAsLong();
                complete = question.getAsBoolean();
                asked = begun;
            }
            return complete;
        } finally {
            asking.unlock();
        }
    }
}
