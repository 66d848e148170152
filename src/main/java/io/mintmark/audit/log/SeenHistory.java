package io.mintmark.audit.log;

import io.mintmark.audit.UnacknowledgedLoss;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.log.LostRow.Kind;
import io.mintmark.base.sql.Database;
import io.mintmark.base.tenant.StateId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The newest changes of the configuration, and the newest checkpoint, that this replica has seen. A
 * database that no longer has one of them was restored, or promoted before it had received it:
 * grants that were revoked may be in force again. If one is missing, the row of the log that this
 * replica wrote last is looked for too, so that one acknowledgement covers both.
 *
 * <p>Answers that differ from what was seen before aren't proof of that, since answers can overtake
 * each other. So the database is asked for the very row that was seen.
 *
 * <p>Methods throw {@link UnacknowledgedLoss} if a row is missing and a loss stops this replica,
 * and {@link io.mintmark.base.sql.QueryFailed} if the database can't be asked.
 */
public final class SeenHistory {
    private static final Logger log = LoggerFactory.getLogger(SeenHistory.class);

    /** The chain name that stands for the tables without tenant. */
    private static final String SHARED = "";

    private final MissingRows database;
    private final Optional<LossStop> stop;
    private final Map<String, StateId> changes = new ConcurrentHashMap<>();

    /** The newest one, and earlier ones that weren't looked for since. */
    private final Set<LostRow> checkpoints = ConcurrentHashMap.newKeySet();

    private final AtomicLong lost = new AtomicLong();
    private volatile Supplier<Optional<LostRow>> ownLoss = Optional::empty;

    /**
     * @param stop what a loss stops; without it, a loss is only logged and counted
     */
    public SeenHistory(Database database, Optional<LossStop> stop) {
        this.database = new MissingRows(database);
        this.stop = stop;
    }

    Optional<LossStop> stop() {
        return stop;
    }

    /**
     * Sets what is asked when something else is lost.
     *
     * @param loss the row of the log that this replica wrote last, if it is missing
     */
    void alsoAsks(Supplier<Optional<LostRow>> loss) {
        ownLoss = loss;
    }

    /** The number of missing rows that this replica had seen before. */
    public long lost() {
        return lost.get();
    }

    /** Notes the states of these tenants. */
    public void saw(Map<TenantName, TenantState> states) {
        List<LostRow> replaced = new ArrayList<>();
        states.forEach((tenant, state) -> {
            replaced.addAll(replaced(tenant.value(), state.own()));
            replaced.addAll(replaced(SHARED, state.shared()));
        });
        if (!replaced.isEmpty()) {
            requireThere(replaced);
            states.forEach((tenant, state) -> {
                remember(tenant.value(), state.own());
                remember(SHARED, state.shared());
            });
        }
    }

    /** Notes the state of the tenant's own rows. */
    public void saw(TenantName tenant, StateId state) {
        saw(tenant.value(), state);
    }

    /** Notes the state of the tables without tenant. */
    public void sawShared(StateId state) {
        saw(SHARED, state);
    }

    /** Notes that these tenants' states have changed. */
    public void sawOthers(Collection<TenantName> tenants) {
        requireThere(
                tenants.stream()
                        .flatMap(tenant -> known(tenant.value()).stream())
                        .distinct()
                        .toList());
    }

    private void saw(String chain, StateId state) {
        List<LostRow> replaced = replaced(chain, state);
        if (!replaced.isEmpty()) {
            requireThere(replaced);
            remember(chain, state);
        }
    }

    /** The row of a chain that was seen before, if it differs. */
    private List<LostRow> replaced(String chain, StateId state) {
        StateId before = changes.putIfAbsent(chain, state);
        return before == null || before.equals(state) ? List.of() : known(chain);
    }

    private List<LostRow> known(String chain) {
        StateId state = changes.get(chain);
        return state == null || state.revision() == 0
                ? List.of()
                : List.of(new LostRow(Kind.CHANGE, chain, state.revision(), state.hash()));
    }

    private void remember(String chain, StateId state) {
        var _ =
                changes.merge(
                        chain,
                        state,
                        (one, other) -> one.revision() >= other.revision() ? one : other);
    }

    /** Notes the newest checkpoint, or that there is none. */
    void saw(Optional<SignedCheckpoint> newest) {
        newest.ifPresentOrElse(this::saw, () -> sawCheckpoint(0));
    }

    /** Notes a checkpoint that this replica has committed, without asking the database. */
    void remember(SignedCheckpoint sealed) {
        var _ = checkpoints.add(new LostRow(Kind.CHECKPOINT, "", sealed.number(), sealed.hash()));
    }

    /** The look at the earlier ones may fail, as in a restore that has lost the newest. */
    private void saw(SignedCheckpoint newest) {
        remember(newest);
        if (checkpoints.size() > 1) {
            requireThere(List.copyOf(checkpoints));
            keepTheNewest();
        }
    }

    private void keepTheNewest() {
        long newest = checkpoints.stream().mapToLong(LostRow::place).max().orElse(0);
        var _ = checkpoints.removeIf(known -> known.place() < newest);
    }

    /** Notes the newest checkpoint's number; 0 without a checkpoint. */
    void sawCheckpoint(long number) {
        requireThere(checkpoints.stream().filter(known -> known.place() > number).toList());
    }

    private void requireThere(List<LostRow> rows) {
        if (!rows.isEmpty() && !database.among(rows).isEmpty()) {
            requireAll();
        }
    }

    /**
     * All that was seen must be there. To be called when something else is lost, so that one
     * acknowledgement covers everything.
     */
    void requireAll() {
        List<LostRow> missing =
                database.among(
                        Stream.concat(
                                        changes.keySet().stream()
                                                .flatMap(chain -> known(chain).stream()),
                                        checkpoints.stream())
                                .toList());
        if (missing.isEmpty()) {
            return;
        }
        stop.ifPresent(
                it -> it.stop(Stream.concat(missing.stream(), ownLoss.get().stream()).toList()));
        missing.forEach(this::forget);
        lost.addAndGet(missing.size());
        log.error(
                "The database lost {}, which this replica has seen: the database was restored, or a standby without these rows was promoted. Revoked grants may be in force again: follow docs/run/restore.md#a-replica-that-noticed-a-loss",
                String.join(", ", missing.stream().map(LostRow::name).toList()));
        if (stop.isPresent()) {
            throw new UnacknowledgedLoss(false);
        }
    }

    /**
     * A witness has cosigned a tree that isn't the beginning of this log's.
     *
     * @param origin names the tree
     * @param size of what it cosigned
     */
    public void rewound(String origin, long size) {
        LostRow tree = new LostRow(Kind.TREE, origin, size, "");
        stop.ifPresent(it -> it.stop(List.of(tree)));
        lost.incrementAndGet();
        log.error(
                "The database lost {}: the database was restored, a standby without these checkpoints was promoted, or the checkpoints were rewritten. Revoked grants may be in force again: follow docs/run/restore.md#a-replica-that-noticed-a-loss",
                tree.name());
    }

    private void forget(LostRow row) {
        if (row.kind() == Kind.CHECKPOINT) {
            var _ = checkpoints.remove(row);
        } else {
            var _ = changes.remove(row.chain(), new StateId(row.place(), row.hash()));
        }
    }
}
