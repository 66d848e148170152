package io.mintmark.audit.log;

import io.mintmark.audit.UnacknowledgedLoss;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.base.sql.Database;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps a replica from writing after a loss, which it or another replica has found, until a
 * checkpoint declares what happened. Methods throw {@link io.mintmark.base.sql.QueryFailed} if the
 * database can't be asked.
 */
public final class LossStop {
    /**
     * The time for which a replica may write without checking whether another one has found a loss.
     */
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final LostRows rows;

    /** The missing rows that this replica knows of, as long as it knows of no acknowledgement. */
    private final Set<LostRow> known = new LinkedHashSet<>();

    private final ReentrantLock asking = new ReentrantLock();
    private long asked = System.nanoTime() - PERIOD.toNanos();

    /**
     * @param declaring the keys whose declarations count
     */
    public LossStop(Database database, TrustedKeys declaring) {
        this.rows = new LostRows(database, declaring);
    }

    /** Notes that these rows are lost. The next {@link #requireAcknowledged} asks the database. */
    void stop(List<LostRow> lost) {
        asking.lock();
        try {
            known.addAll(lost);
            asked = System.nanoTime() - PERIOD.toNanos();
            rows.report(lost);
        } finally {
            asking.unlock();
        }
    }

    /**
     * Lets the replica go on.
     *
     * @throws UnacknowledgedLoss if a loss was found and not declared since
     */
    void requireAcknowledged() {
        asking.lock();
        try {
            long now = System.nanoTime();
            if (now - asked >= PERIOD.toNanos()) {
                List<LostRow> awaiting = awaiting();
                known.addAll(awaiting);
                if (!awaiting.isEmpty()) {
                    throw new UnacknowledgedLoss(false);
                }
                known.clear();
                asked = now;
            }
        } finally {
            asking.unlock();
        }
    }

    /**
     * The lost rows that nobody has acknowledged. Reports them again, because a second restore also
     * removes the reports of the first one's losses.
     */
    private List<LostRow> awaiting() {
        List<LostRow> reported = rows.awaiting();
        Set<LostRow> distinct = Set.copyOf(reported);
        List<LostRow> unreported = known.stream().filter(row -> !distinct.contains(row)).toList();
        if (unreported.isEmpty()) {
            return reported;
        }
        rows.report(unreported); // has no effect on rows that are acknowledged
        return rows.awaiting();
    }
}
