package io.mintmark.broker.catalogue;

import io.mintmark.audit.UnacknowledgedLoss;
import io.mintmark.audit.log.SeenHistory;
import io.mintmark.base.sql.QueryFailed;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.StateId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.grant.CatalogueStore;
import io.mintmark.broker.grant.SharedSnapshot;
import io.mintmark.broker.grant.SubjectGrants;
import io.mintmark.broker.grant.TenantSnapshot;

import java.time.Duration;
import java.util.Map;
import java.util.Set;

/**
 * A catalogue whose states the replica remembers, so that it notices a database which has forgotten
 * one of them. What such a database answers isn't used.
 */
public final class WatchedCatalogue implements CatalogueStore {
    private static final Duration SOON = Duration.ofSeconds(5);

    private final CatalogueStore store;
    private final SeenHistory history;

    public WatchedCatalogue(CatalogueStore store, SeenHistory history) {
        this.store = store;
        this.history = history;
    }

    @Override
    public StateId state(TenantName tenant) {
        StateId state = store.state(tenant);
        remember(() -> history.saw(tenant, state));
        return state;
    }

    @Override
    public Set<TenantName> changed(Map<TenantName, StateId> known) {
        Set<TenantName> changed = store.changed(known);
        remember(() -> history.sawOthers(changed));
        return changed;
    }

    @Override
    public SharedState sharedState() {
        SharedState state = store.sharedState();
        remember(() -> history.sawShared(state.state()));
        return state;
    }

    @Override
    public SharedSnapshot shared() {
        SharedSnapshot shared = store.shared();
        remember(() -> history.sawShared(shared.state()));
        return shared;
    }

    @Override
    public TenantSnapshot tenant(TenantName tenant, long most) {
        TenantSnapshot snapshot = store.tenant(tenant, most);
        remember(() -> history.saw(tenant, snapshot.state()));
        return snapshot;
    }

    @Override
    public SubjectGrants grants(TenantName tenant, IdpName idp, String subject, long most) {
        SubjectGrants grants = store.grants(tenant, idp, subject, most);
        remember(() -> history.saw(Map.of(tenant, grants.state())));
        return grants;
    }

    private static void remember(Runnable memory) {
        try {
            memory.run();
        } catch (UnacknowledgedLoss e) {
            throw new Unavailable(
                    Unavailable.Part.DATABASE,
                    "The database has lost changes of the configuration, so nothing is minted"
                            + " until an operator acknowledges the loss; try again later.",
                    SOON,
                    e);
        } catch (QueryFailed e) {
            throw Documents.unreadable(e);
        }
    }
}
