package io.mintmark.audit.log;

import io.mintmark.audit.Event;
import io.mintmark.audit.EventRefused;
import io.mintmark.audit.EventStore;
import io.mintmark.audit.StoreLocked;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.UnacknowledgedLoss;
import io.mintmark.audit.chain.Chain;
import io.mintmark.audit.log.EventInsert.Confirmed;
import io.mintmark.audit.log.EventInsert.Inserted;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Queries;
import io.mintmark.base.sql.QueryFailed;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;

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
 * for another reason, the gap stays in the chain, so that only a declaration can explain it.
 */
public final class PostgresEventStore implements EventStore {
    private static final String KNOWN =
            """
            SELECT DISTINCT mint_id
              FROM log.event
             WHERE mint_id = ANY (cast(:mints AS uuid[]))
            """;

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
    private final SeenHistory history;
    private final EventRows rows;
    private final InstantSource clock = InstantSource.system();
    private final MintIds mintIds = new MintIds(clock, new SecureRandom());
    private final Chain chain = Chain.ofThisRun();
    private final ReentrantLock writing = new ReentrantLock();
    private final AtomicLong written = new AtomicLong();
    private final OwnLosses losses;
    private volatile Optional<Confirmed> last = Optional.empty();
    private volatile Optional<Chain.Head> head = Optional.empty();
    private volatile String timeline = "";

    /**
     * @param broker the name of this replica, for the log's readers
     */
    public PostgresEventStore(Database database, String broker) {
        this(
                database,
                broker,
                new SeenHistory(database, Optional.empty()),
                RevocationPolicy.NOTHING);
    }

    /**
     * Creates a store that knows what the replica has seen of the history. If rows of that history,
     * or rows that the replica wrote, are lost and {@code history} stops the replica, the store
     * accepts no rows until the loss is declared.
     *
     * @param leftBehind the types of mints whose leftovers the store keeps
     */
    public PostgresEventStore(
            Database database, String broker, SeenHistory history, RevocationPolicy leftBehind) {
        this.queries = database.writing();
        this.history = history;
        this.losses = new OwnLosses(queries, history.stop());
        this.insert = new EventInsert(queries, leftBehind);
        this.rows = new EventRows(broker);
        history.alsoAsks(this::ownLoss);
    }

    private Optional<LostRow> ownLoss() {
        return last.filter(
                        row -> !insert.isThere(row) && !Partitions.isRetired(queries, row.mint()))
                .map(row -> LostRow.of(row.head()));
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
            requireKnownHistory(inserted);
            return inserted.states();
        } finally {
            writing.unlock();
        }
    }

    /**
     * Compares the committed rows' state with the history that this replica has seen. The rows stay
     * on disk whatever the result is.
     */
    private void requireKnownHistory(Inserted inserted) {
        try {
            history.saw(inserted.states());
            inserted.checkpoint().ifPresent(history::sawCheckpoint);
        } catch (UnacknowledgedLoss e) {
            throw new UnacknowledgedLoss(true);
        } catch (QueryFailed e) {
            throw new StoreUnreachable(
                    "the history of the configuration can't be compared with the database",
                    true,
                    e);
        }
    }

    /** Inserts the rows, unless the row before them is missing. */
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

    @Override
    public void check() {
        writing.lock();
        try {
            if (last.isPresent() && !ask(() -> insert.isThere(last.get()))) {
                goOnBehindLoss();
            }
            requireAcknowledged();
        } finally {
            writing.unlock();
        }
    }

    /**
     * A promoted standby may never have received the row, and then its chain ends. On the timeline
     * on which it was written, a restore or tampering removed the row, and the gap must show.
     */
    private void goOnBehindLoss() {
        OwnLosses.Cause cause = ask(() -> losses.report(last.orElseThrow(), timeline));
        last = Optional.empty();
        if (cause == OwnLosses.Cause.PROMOTION) {
            beginAnew();
        }
        if (cause != OwnLosses.Cause.RETIREMENT) {
            reached(history::requireAll);
            requireAcknowledged();
        }
    }

    private void requireAcknowledged() {
        reached(() -> history.stop().ifPresent(LossStop::requireAcknowledged));
    }

    private static void reached(Runnable question) {
        var _ =
                ask(() -> {
                    question.run();
                    return true;
                });
    }

    private static <T> T ask(Supplier<T> question) {
        try {
            return question.get();
        } catch (QueryFailed e) {
            throw unreachable(e);
        }
    }

    /** If the month's partition is missing, creates it and writes the rows again. */
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
                ? new EventRefused("PostgreSQL rejected a row of the audit log", e)
                : unreachable(e);
    }

    /** Writes the rehearsed rows in a chain of their own, of which nothing remains. */
    @Override
    public void rehearse() {
        check();
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

    /** The number of rows that this writer has committed. */
    public long written() {
        return written.get();
    }

    /** The number of times that a promoted standby lacked the previous row. */
    public long notReplicated() {
        return losses.notReplicated();
    }

    /**
     * The number of times that the previous row was missing although no standby had been promoted,
     * because of a restore or of tampering.
     */
    public long removed() {
        return losses.removed();
    }

    @Override
    public Set<MintId> known(Collection<MintId> mints) {
        String[] ids = mints.stream().map(MintId::toString).toArray(String[]::new);
        return ask(() ->
                Set.copyOf(
                        queries.query(
                                KNOWN,
                                Map.of("mints", ids),
                                row -> new MintId(row.column("mint_id").get(UUID.class)))));
    }

    private static StoreUnreachable unreachable(QueryFailed cause) {
        if (cause.isLocked()) {
            return new StoreLocked("the audit log " + cause.getMessage(), cause);
        }
        return new StoreUnreachable("the audit log can't be reached", cause.perhapsDone(), cause);
    }
}
