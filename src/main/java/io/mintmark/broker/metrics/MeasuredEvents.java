package io.mintmark.broker.metrics;

import io.mintmark.audit.Event;
import io.mintmark.audit.EventStore;
import io.mintmark.base.metrics.Meters;
import io.mintmark.base.metrics.Metric;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Times the commits of the audit log. */
public final class MeasuredEvents implements EventStore {
    private final EventStore store;
    private final Timed commits;

    public MeasuredEvents(EventStore store, Meters meters) {
        this.store = store;
        this.commits = new Timed(meters, Metric.AUDIT_COMMIT);
    }

    @Override
    public Map<TenantName, TenantState> append(List<Event> events, Set<TenantName> tenants) {
        return commits.ask(() -> store.append(events, tenants));
    }

    @Override
    public void rehearse() {
        store.rehearse();
    }

    @Override
    public void check() {
        store.check();
    }

    @Override
    public Set<MintId> known(Collection<MintId> mints) {
        return store.known(mints);
    }
}
