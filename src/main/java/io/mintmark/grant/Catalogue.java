package io.mintmark.grant;

import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.StateId;
import io.mintmark.tenant.TenantName;
import io.mintmark.tenant.TenantState;
import io.mintmark.token.VerifiedToken;
import io.mintmark.verdict.Unavailable;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * What tenants have: read tenant by tenant when it is asked for, kept as immutable snapshots. A
 * snapshot that is older than the allowed staleness, or that is known to have changed, isn't used
 * before the database has been asked for the tenant's state.
 */
public final class Catalogue {
    private static final int TENANTS_KEPT = 10_000;
    private static final int SUBJECTS_KEPT = 50_000;

    /** Of the heap, as the text that is read; what is made of it takes some times that. */
    private static final long TENANTS_SHARE = Runtime.getRuntime().maxMemory() / 8;

    private static final long SUBJECTS_SHARE = TENANTS_SHARE / 2;
    private static final int ATTEMPTS = 5;
    private static final Duration SOON = Duration.ofSeconds(1);

    /** The state is part of the key: grants of another state are never found. */
    private record SubjectAt(TenantName tenant, TenantState state, IdpName idp, String subject) {
        /** Of what tells nearly all of them apart, because this is asked at every request. */
        @Override
        public int hashCode() {
            return Objects.hash(tenant.value(), state.own(), subject);
        }
    }

    private final CatalogueStore store;

    private enum Shared {
        BY_ALL_TENANTS
    }

    private final SingleFlightCache<TenantName, TenantSnapshot> tenants;
    private final SingleFlightCache<Shared, SharedSnapshot> shared;
    private final SingleFlightCache<SubjectAt, SubjectGrants> subjects;
    private final MatchingMeter meter;
    private final DatabaseClock databaseClock;

    /**
     * @param maxStaleness after which nothing is used without asking again
     * @param nanos a clock that only goes forward, in nanoseconds
     */
    public Catalogue(CatalogueStore store, Duration maxStaleness, LongSupplier nanos) {
        this.store = store;
        this.meter = new MatchingMeter(nanos);
        this.databaseClock = new DatabaseClock(nanos);
        this.tenants =
                new SingleFlightCache<>(
                        maxStaleness,
                        TENANTS_SHARE,
                        snapshot -> weight(snapshot.bytes(), TENANTS_SHARE, TENANTS_KEPT),
                        nanos,
                        this::snapshot);
        this.shared =
                new SingleFlightCache<>(
                        maxStaleness, 1, nanos, (_, known) -> sharedSnapshot(known));
        this.subjects =
                new SingleFlightCache<>(
                        Duration.ofNanos(Long.MAX_VALUE),
                        SUBJECTS_SHARE,
                        grants -> weight(grants.bytes(), SUBJECTS_SHARE, SUBJECTS_KEPT),
                        nanos,
                        (at, _) -> store.grants(at.tenant(), at.idp(), at.subject()));
    }

    /** So that neither more bytes are kept than their share nor more values than their number. */
    private static int weight(int bytes, long share, int kept) {
        return Math.toIntExact(bytes + share / kept);
    }

    private TenantSnapshot snapshot(TenantName tenant, @Nullable TenantSnapshot known) {
        return known != null && known.state().equals(store.state(tenant))
                ? known
                : store.tenant(tenant);
    }

    private SharedSnapshot sharedSnapshot(@Nullable SharedSnapshot known) {
        if (known != null && known.state().equals(heard(store.sharedState()).state())) {
            return known;
        }
        SharedSnapshot snapshot = store.shared();
        databaseClock.heard(snapshot.readAt());
        return snapshot;
    }

    private CatalogueStore.SharedState heard(CatalogueStore.SharedState state) {
        databaseClock.heard(state.readAt());
        return state;
    }

    /**
     * What the token's subject has at its tenant, all of one state.
     *
     * @throws Unavailable if it can't be read, or is too much work to decide
     */
    public Entitlements entitlements(VerifiedToken token) {
        TenantName tenant = token.provider().tenant();
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            TenantSnapshot own = tenants.get(tenant);
            SharedSnapshot ofAll = shared.get(Shared.BY_ALL_TENANTS);
            TenantState state = new TenantState(own.state(), ofAll.state());
            SubjectGrants grants = grants(tenant, state, token);
            if (grants.state().equals(state)) {
                return meter.within(
                        tenant,
                        budget ->
                                new Entitlements(
                                        own, ofAll, grants, token, databaseClock.now(), budget));
            }
            changed(tenant);
        }
        throw new Unavailable(
                "The configuration of tenant '%s' is being changed; try again.".formatted(tenant),
                SOON);
    }

    private SubjectGrants grants(TenantName tenant, TenantState state, VerifiedToken token) {
        return subjects.get(new SubjectAt(tenant, state, token.provider().name(), token.subject()));
    }

    /** This tenant may have changed, or what counts for all of them. */
    public void changed(TenantName tenant) {
        tenants.changed(tenant);
        shared.changed(Shared.BY_ALL_TENANTS);
    }

    /**
     * Asks the database which of the tenants that are held have changed, and whether what counts
     * for all of them has.
     *
     * @throws Unavailable if it can't be asked
     */
    void refresh() {
        refreshTenants();
        refreshShared();
    }

    private void refreshTenants() {
        var held = tenants.held();
        Map<TenantName, StateId> states = new HashMap<>();
        held.values().forEach((tenant, snapshot) -> states.put(tenant, snapshot.state()));
        Set<TenantName> changed = states.isEmpty() ? Set.of() : store.changed(states);
        held.changed(changed::contains);
    }

    private void refreshShared() {
        var held = shared.held();
        StateId now = heard(store.sharedState()).state();
        boolean changed =
                held.values().values().stream().anyMatch(snapshot -> !snapshot.state().equals(now));
        held.changed(_ -> changed);
    }
}
