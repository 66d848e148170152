package io.mintmark.audit.log;

import io.mintmark.audit.Event;
import io.mintmark.audit.EventRefused;
import io.mintmark.audit.EventStore;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.chain.Chain;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.EventInsert.Confirmed;
import io.mintmark.audit.log.EventInsert.Inserted;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Queries;
import io.mintmark.base.sql.QueryFailed;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The audit log's table for one writer: what it writes is one hash chain, linked when a batch is
 * put together, so that a rejected or repeated batch leaves no gap. If a promoted standby lacks the
 * previous row, a new chain begins, so that the loss is the end of a chain; if the row is missing
 * for another reason, the gap stays in the chain.
 */
public final class PostgresEventStore implements EventStore {
    private static final Logger log = LoggerFactory.getLogger(PostgresEventStore.class);

    private static final String KNOWN =
            """
            SELECT DISTINCT mint_id
              FROM audit.event
             WHERE mint_id = ANY (cast(:mints AS uuid[]))
            """;

    /** A promotion begins a new one; PostgreSQL names the files of its log by it. */
    static final String TIMELINE =
            "SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline";

    /**
     * Where a chain ends by its writer.
     *
     * @param head none before the first row, and where the chain ends is not known
     * @param timeline of a statement that was committed before the row or with it; empty before the
     *     first
     */
    record WrittenHead(Optional<Chain.Head> head, String timeline) {}

    private final Queries queries;
    private final EventInsert insert;
    private final Optional<LossStop> stop;
    private final EventRows rows;
    private final InstantSource clock = InstantSource.system();
    private final MintIds mintIds = new MintIds(clock, new SecureRandom());
    private final Chain chain = Chain.ofThisRun();
    private final ReentrantLock writing = new ReentrantLock();
    private final AtomicLong written = new AtomicLong();
    private final AtomicLong notReplicated = new AtomicLong();
    private final AtomicLong removed = new AtomicLong();
    private Optional<Confirmed> last = Optional.empty();
    private volatile Optional<Chain.Head> head = Optional.empty();
    private volatile String timeline = "";

    /**
     * @param broker the name of this replica, for the log's readers
     */
    public PostgresEventStore(Database database, String broker) {
        this(database, broker, Optional.empty(), EndingPolicy.NOTHING);
    }

    /**
     * The same, and it takes no rows while a promotion has lost some, until a declaration.
     *
     * @param declaring the keys whose declarations count; without them it goes on
     * @param leftBehind of which mints it keeps what they may leave behind
     */
    public PostgresEventStore(
            Database database,
            String broker,
            Optional<TrustedKeys> declaring,
            EndingPolicy leftBehind) {
        this.queries = database.writing();
        this.stop = declaring.map(keys -> new LossStop(new LostRows(queries, keys)));
        this.insert = new EventInsert(queries, leftBehind);
        this.rows = new EventRows(broker);
    }

    @Override
    public Map<TenantName, TenantState> append(List<Event> events, Set<TenantName> tenants) {
        writing.lock();
        try {
            requireAcknowledged();
            Inserted inserted = inserted(events, tenants);
            if (inserted.rows() == 0) {
                goOnBehindLoss();
                inserted = inserted(events, tenants);
            }
            written.addAndGet(events.size());
            return inserted.states();
        } finally {
            writing.unlock();
        }
    }

    /** No rows are written where the row before them is missing. */
    private Inserted inserted(List<Event> events, Set<TenantName> tenants) {
        Chain.Draft draft = chain.draft();
        Inserted inserted = insert(events, rows.json(events, draft), tenants);
        if (inserted.rows() > 0) {
            chain.committed(draft);
            head = Optional.of(chain.head());
            last = Optional.of(new Confirmed(events.getLast().mintId(), chain.head()));
            inserted.timeline().ifPresent(found -> timeline = found);
        }
        return inserted;
    }

    private Inserted insert(List<Event> events, String json, Set<TenantName> tenants) {
        try {
            return healed(() -> insert.run(events, json, last, tenants));
        } catch (QueryFailed e) {
            if (e.perhapsDone()) {
                beginAnew();
            }
            throw meaning(e);
        } catch (RuntimeException e) {
            beginAnew();
            throw e;
        }
    }

    private void beginAnew() {
        chain.unsure();
        head = Optional.empty();
    }

    /**
     * A promoted standby may never have received the row, and only ends of chains can be declared
     * lost. On the timeline on which it was written, only tampering removes a row, and the gap must
     * show.
     */
    private void goOnBehindLoss() {
        boolean promoted = !timeline.isEmpty() && !timeline.equals(currentTimeline());
        Chain.Head lost = last.orElseThrow().head();
        if (promoted) {
            reached(() -> stop.ifPresent(own -> own.stop(lost)));
        }
        log.error(
                "The database lost row {} of chain {} of the audit log, which it had "
                        + "confirmed, with hash {}: {}",
                lost.seq(),
                lost.chain(),
                lost.hash(),
                promoted
                        ? "a standby without that row was promoted. This run continues in a "
                                + "new chain"
                        : "the row was removed. The chain continues after the gap, and audit "
                                + "verify reports it");
        last = Optional.empty();
        if (promoted) {
            notReplicated.incrementAndGet();
            beginAnew();
            requireAcknowledged();
        } else {
            removed.incrementAndGet();
        }
    }

    private void requireAcknowledged() {
        reached(() -> stop.ifPresent(LossStop::requireAcknowledged));
    }

    private static void reached(Runnable question) {
        try {
            question.run();
        } catch (QueryFailed e) {
            throw unreachable(e);
        }
    }

    private String currentTimeline() {
        try {
            return queries.query(
                            TIMELINE, List.of(), row -> row.column("timeline").get(String.class))
                    .getFirst();
        } catch (QueryFailed e) {
            throw unreachable(e);
        }
    }

    /** Where the month's partition is missing, it is made, and the rows are written again. */
    private <T> T healed(Supplier<T> write) {
        try {
            return write.get();
        } catch (QueryFailed e) {
            if (!e.isOutOfRange() || Partitions.create(queries) == 0) {
                throw e;
            }
            return write.get();
        }
    }

    private static RuntimeException meaning(QueryFailed e) {
        return e.isRefusal()
                ? new EventRefused("the database refused a row of the audit log", e)
                : unreachable(e);
    }

    /** In a chain of its own, which nothing is left of. */
    @Override
    public void rehearse() {
        writing.lock();
        try {
            requireAcknowledged();
        } finally {
            writing.unlock();
        }
        String json =
                rows.json(Rehearsal.of(mintIds.next(), clock.instant()), Chain.ofThisRun().draft());
        try {
            var _ =
                    healed(() -> {
                        insert.rehearse(json);
                        return json;
                    });
        } catch (QueryFailed e) {
            throw meaning(e);
        }
    }

    /**
     * The end of its chain, as it was written. The timeline is read first: with that of an earlier
     * server, the head counts for nothing.
     */
    WrittenHead head() {
        String then = timeline;
        return new WrittenHead(head, then);
    }

    /** How many rows this writer has committed. */
    public long written() {
        return written.get();
    }

    /** How often a promoted standby lacked the row before. */
    public long notReplicated() {
        return notReplicated.get();
    }

    /** How often the row before was gone though no standby had been promoted. */
    public long removed() {
        return removed.get();
    }

    @Override
    public Set<MintId> known(Collection<MintId> mints) {
        String[] ids = mints.stream().map(MintId::toString).toArray(String[]::new);
        try {
            return Set.copyOf(
                    queries.query(
                            KNOWN,
                            Map.of("mints", ids),
                            row -> new MintId(row.column("mint_id").get(UUID.class))));
        } catch (QueryFailed e) {
            throw unreachable(e);
        }
    }

    private static StoreUnreachable unreachable(QueryFailed cause) {
        return new StoreUnreachable("the audit log can't be reached", cause.perhapsDone(), cause);
    }
}
