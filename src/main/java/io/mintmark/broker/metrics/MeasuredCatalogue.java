package io.mintmark.broker.metrics;

import io.mintmark.base.metrics.Meters;
import io.mintmark.base.metrics.Metric;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.StateId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.grant.CatalogueStore;
import io.mintmark.broker.grant.SharedSnapshot;
import io.mintmark.broker.grant.SubjectGrants;
import io.mintmark.broker.grant.TenantSnapshot;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** Times the catalogue's readings, and knows how long ago the last one was. */
public final class MeasuredCatalogue implements CatalogueStore {
    private final CatalogueStore store;
    private final Timed readings;
    private final AtomicLong read = new AtomicLong(System.nanoTime());

    public MeasuredCatalogue(CatalogueStore store, Meters meters) {
        this.store = store;
        this.readings = new Timed(meters, Metric.CATALOGUE_LOAD);
    }

    /**
     * The time since the database last confirmed what a tenant has; before the first time, since
     * the start.
     */
    Duration age() {
        return Duration.ofNanos(System.nanoTime() - read.get());
    }

    @Override
    public StateId state(TenantName tenant) {
        return ask(() -> store.state(tenant));
    }

    /**
     * Reads the changed tenants. This isn't timed with the other reads, because it runs twice a
     * second without any request.
     */
    @Override
    public Set<TenantName> changed(Map<TenantName, StateId> known) {
        Set<TenantName> changed = store.changed(known);
        read.set(System.nanoTime());
        return changed;
    }

    /** Reads the shared state, which isn't timed either, because it runs without any request. */
    @Override
    public SharedState sharedState() {
        SharedState state = store.sharedState();
        read.set(System.nanoTime());
        return state;
    }

    @Override
    public SharedSnapshot shared() {
        return ask(store::shared);
    }

    @Override
    public TenantSnapshot tenant(TenantName tenant, long most) {
        return ask(() -> store.tenant(tenant, most));
    }

    @Override
    public SubjectGrants grants(TenantName tenant, IdpName idp, String subject, long most) {
        return ask(() -> store.grants(tenant, idp, subject, most));
    }

    private <T> T ask(Supplier<T> question) {
        T answer = readings.ask(question);
        read.set(System.nanoTime());
        return answer;
    }
}
