package io.mintmark.audit.log;

import io.mintmark.audit.UnacknowledgedLoss;
import io.mintmark.audit.chain.Chain;

import java.time.Duration;

/**
 * Keeps a writer from writing after a loss, of its own rows or another replica's, until a
 * checkpoint declares what happened. Called with the writer's lock held.
 */
final class LossStop {
    /** How long a writer may write on without asking whether another replica has found a loss. */
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final LostRows rows;
    private long asked = System.nanoTime() - PERIOD.toNanos();

    LossStop(LostRows rows) {
        this.rows = rows;
    }

    /** A row of this writer is lost. */
    void stop(Chain.Head row) {
        rows.report(row);
        asked = System.nanoTime() - PERIOD.toNanos();
    }

    /**
     * Lets the writer go on.
     *
     * @throws UnacknowledgedLoss if a loss was found and not declared since
     */
    void requireAcknowledged() {
        long now = System.nanoTime();
        if (now - asked >= PERIOD.toNanos()) {
            if (!rows.areAcknowledged()) {
                throw new UnacknowledgedLoss();
            }
            asked = now;
        }
    }
}
