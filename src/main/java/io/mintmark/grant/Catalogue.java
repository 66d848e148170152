package io.mintmark.grant;

import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.TenantName;
import io.mintmark.tenant.TenantState;
import io.mintmark.token.VerifiedToken;
import io.mintmark.verdict.Unavailable;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
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
    private record SubjectAt(TenantName tenant, TenantState state, IdpName idp, String subject) {}

    private final CatalogueStore store;
    private final SingleFlightCache<TenantName, TenantSnapshot> tenants;
    private final SingleFlightCache<SubjectAt, SubjectGrants> subjects;
    private final MatchingMeter meter;

    /**
     * @param maxStaleness after which nothing is used without asking again
     * @param nanos a clock that only goes forward, in nanoseconds
     */
    public Catalogue(CatalogueStore store, Duration maxStaleness, LongSupplier nanos) {
        this.store = store;
        this.meter = new MatchingMeter(nanos);
        this.tenants =
                new SingleFlightCache<>(
                        maxStaleness,
                        TENANTS_SHARE,
                        snapshot -> weight(snapshot.bytes(), TENANTS_SHARE, TENANTS_KEPT),
                        nanos,
                        this::snapshot);
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

    /**
     * What the token's subject has at its tenant, all of one state.
     *
     * @throws Unavailable if it can't be read, or is too much work to decide
     */
    public Entitlements entitlements(VerifiedToken token) {
        TenantName tenant = token.provider().tenant();
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            TenantSnapshot snapshot = tenants.get(tenant);
            SubjectGrants grants = grants(snapshot, token);
            if (grants.state().equals(snapshot.state())) {
                return meter.within(
                        tenant, budget -> new Entitlements(snapshot, grants, token, budget));
            }
            tenants.changed(tenant);
        }
        throw new Unavailable(
                "The configuration of tenant '%s' is being changed; try again.".formatted(tenant),
                SOON);
    }

    private SubjectGrants grants(TenantSnapshot snapshot, VerifiedToken token) {
        return subjects.get(
                new SubjectAt(
                        snapshot.name(),
                        snapshot.state(),
                        token.provider().name(),
                        token.subject()));
    }

    /** This tenant may have changed. */
    public void changed(TenantName tenant) {
        tenants.changed(tenant);
    }

    /**
     * Asks the database which of the tenants that are held have changed.
     *
     * @throws Unavailable if it can't be asked
     */
    void refresh() {
        var held = tenants.held();
        Map<TenantName, TenantState> states = new HashMap<>();
        held.values().forEach((tenant, snapshot) -> states.put(tenant, snapshot.state()));
        Set<TenantName> changed = states.isEmpty() ? Set.of() : store.changed(states);
        held.changed(changed::contains);
    }
}
