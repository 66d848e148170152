package io.mintmark.audit;

import io.mintmark.tenant.MintId;
import io.mintmark.tenant.TenantName;
import io.mintmark.tenant.TenantState;

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
            Optional.of("the audit log doesn't take rows, so nothing can be handed out");

    private final EventStore store;
    private volatile boolean failing;

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
            if (!failing) {
                log.error("The audit log didn't take rows", e);
            }
            failing = true;
            throw e;
        }
        if (failing) {
            log.info("The audit log takes rows again");
        }
        failing = false;
        return result;
    }

    /** What is wrong, in a sentence for strangers; nothing if nothing is. */
    Optional<String> fault() {
        return failing ? FAULT : Optional.empty();
    }

    /** The same, after the store was tried again if it had failed. */
    Optional<String> recheck() {
        if (failing) {
            tryOut();
        }
        return fault();
    }

    /** Finds out whether it takes rows. */
    void tryOut() {
        try {
            rehearse();
        } catch (RuntimeException e) {
            log.debug("The audit log takes no rows", e);
        }
    }

    @Override
    public Set<MintId> known(Collection<MintId> mints) {
        return store.known(mints);
    }
}
