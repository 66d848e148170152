package io.mintmark.audit;

import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * A store, and whether it took the last rows. Why it didn't take them makes no difference: as long
 * as nothing shows that it takes rows again, this replica can't do its work.
 */
final class WatchedStore implements EventStore {
    private static final Logger log = LoggerFactory.getLogger(WatchedStore.class);
    private static final Optional<String> FAULT =
            Optional.of("the audit log can't be written, so nothing can be minted");
    private static final Optional<String> LOCKED =
            Optional.of(
                    "another database session holds a lock on the audit log, so nothing can be minted");

    private final EventStore store;
    private volatile Optional<String> fault = Optional.empty();
    private volatile Optional<String> loss = Optional.empty();

    WatchedStore(EventStore store) {
        this.store = store;
    }

    @Override
    public Map<TenantName, TenantState> append(List<Event> events, Set<TenantName> tenants) {
        return watched(() -> store.append(events, tenants));
    }

    @Override
    public void rehearse() {
        var _ =
                watched(() -> {
                    store.rehearse();
                    return true;
                });
    }

    private <T> T watched(Supplier<T> commit) {
        T result;
        try {
            result = commit.get();
        } catch (RuntimeException e) {
            if (fault.isEmpty()) {
                log.error(
                        "The audit log can't be written, so this replica mints nothing until it can be written again",
                        e);
            }
            loss =
                    e instanceof UnacknowledgedLoss
                            ? Optional.of(String.valueOf(e.getMessage()))
                            : Optional.empty();
            fault = loss.or(() -> e instanceof StoreLocked ? LOCKED : FAULT);
            throw e;
        }
        if (fault.isPresent()) {
            log.info("The audit log can be written again");
        }
        fault = Optional.empty();
        loss = Optional.empty();
        return result;
    }

    /** The loss that nobody has acknowledged, as a sentence for clients; empty without one. */
    Optional<String> loss() {
        return loss;
    }

    /** The current fault, as a sentence for clients; empty without one. */
    Optional<String> fault() {
        return fault;
    }

    /** Whether rows can't be written because another session holds a lock. */
    boolean isLocked() {
        return fault.equals(LOCKED);
    }

    /**
     * Tries a failed store again. If the store works, checks whether another replica has lost rows,
     * so that a replica without requests notices a loss too. Call this while nothing is being
     * written.
     */
    void recheck() {
        if (fault.isPresent()) {
            tryOut();
            return;
        }
        try {
            store.check();
        } catch (UnacknowledgedLoss e) {
            log.error("The audit log can't be written", e);
            loss = Optional.of(String.valueOf(e.getMessage()));
            fault = loss;
        } catch (StoreUnreachable e) {
            log.debug("The audit log can't be queried", e);
        }
    }

    @Override
    public void check() {
        store.check();
    }

    /** Tests whether the store accepts rows. */
    void tryOut() {
        try {
            rehearse();
        } catch (RuntimeException e) {
            log.debug("The audit log can't be written", e);
        }
    }

    @Override
    public Set<MintId> known(Collection<MintId> mints) {
        return store.known(mints);
    }
}
