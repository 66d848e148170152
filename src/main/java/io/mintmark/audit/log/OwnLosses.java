package io.mintmark.audit.log;

import io.mintmark.audit.chain.Chain;
import io.mintmark.audit.log.EventInsert.Confirmed;
import io.mintmark.base.sql.Queries;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Finds out why the row that a writer had confirmed last is missing. Methods throw {@link
 * io.mintmark.base.sql.QueryFailed}.
 */
final class OwnLosses {
    private static final Logger log = LoggerFactory.getLogger(OwnLosses.class);

    /** Selects the timeline. A promotion begins a new one; PostgreSQL names WAL files by it. */
    static final String TIMELINE =
            "SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline";

    /** Why a row is missing. */
    enum Cause {
        /** The row's month was retired. */
        RETIREMENT,
        /** A standby without the row was promoted. */
        PROMOTION,
        /** The database was restored, or the row was removed by hand. */
        REMOVAL
    }

    private final Queries queries;
    private final Optional<LossStop> stop;
    private final AtomicLong notReplicated = new AtomicLong();
    private final AtomicLong removed = new AtomicLong();

    OwnLosses(Queries queries, Optional<LossStop> stop) {
        this.queries = queries;
        this.stop = stop;
    }

    /**
     * Reports a missing row, unless it was retired.
     *
     * @param timeline on which it was written; empty if unknown
     */
    Cause report(Confirmed confirmed, String timeline) {
        if (Partitions.isRetired(queries, confirmed.mint())) {
            return Cause.RETIREMENT;
        }
        boolean promoted = !timeline.isEmpty() && !timeline.equals(currentTimeline());
        Chain.Head lost = confirmed.head();
        stop.ifPresent(it -> it.stop(List.of(LostRow.of(lost))));
        log.error(
                "The database lost a row that it had confirmed: row {} of chain {} of the audit"
                        + " log, with hash {}; {}. Follow docs/run/restore.md#a-replica-that-noticed-a-loss",
                lost.seq(),
                lost.chain(),
                lost.hash(),
                promoted
                        ? "a standby without that row was promoted. This replica continues in a"
                                + " new chain"
                        : "the database was restored, or the row was removed. The chain continues after the gap, and mintmark audit verify reports the gap");
        var _ = (promoted ? notReplicated : removed).incrementAndGet();
        return promoted ? Cause.PROMOTION : Cause.REMOVAL;
    }

    private String currentTimeline() {
        return queries.query(TIMELINE, List.of(), row -> row.column("timeline").get(String.class))
                .getFirst();
    }

    long notReplicated() {
        return notReplicated.get();
    }

    long removed() {
        return removed.get();
    }
}
