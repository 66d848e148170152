package io.mintmark.grant;

import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.TenantName;
import io.mintmark.token.VerifiedToken;
import io.mintmark.verdict.Unavailable;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * What tenants have: read tenant by tenant when it is asked for, kept as immutable snapshots. A
 * snapshot that is older than the allowed staleness, or of which a change was announced, isn't used
 * before the database has been asked for the tenant's revision.
 */
public final class Catalogue {
    private static final int TENANTS_KEPT = 10_000;
    private static final int SUBJECTS_KEPT = 50_000;
    private static final int ATTEMPTS = 5;
    private static final Duration SOON = Duration.ofSeconds(1);

    /** The revision is part of the key: grants of another revision are never found. */
    private record SubjectAt(TenantName tenant, long revision, IdpName idp, String subject) {}

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
        this.tenants = new SingleFlightCache<>(maxStaleness, TENANTS_KEPT, nanos, this::snapshot);
        this.subjects =
                new SingleFlightCache<>(
                        Duration.ofNanos(Long.MAX_VALUE),
                        SUBJECTS_KEPT,
                        nanos,
                        (at, _) -> store.grants(at.tenant(), at.idp(), at.subject()));
    }

    private TenantSnapshot snapshot(TenantName tenant, @Nullable TenantSnapshot known) {
        return known != null && known.revision() == store.revision(tenant)
                ? known
                : store.tenant(tenant);
    }

    /**
     * What the token's subject has at its tenant, all of one revision.
     *
     * @param atLeast the revision that it must have reached
     * @throws Unavailable if it can't be read, or is too much work to decide
     */
    public Entitlements entitlements(VerifiedToken token, long atLeast) {
        TenantName tenant = token.provider().tenant();
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            TenantSnapshot snapshot = tenants.get(tenant);
            if (snapshot.revision() >= atLeast) {
                SubjectGrants grants = grants(snapshot, token);
                if (grants.revision() == snapshot.revision()) {
                    return meter.within(
                            tenant, budget -> new Entitlements(snapshot, grants, token, budget));
                }
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
                        snapshot.revision(),
                        token.provider().name(),
                        token.subject()));
    }

    /** A change of this tenant was announced. */
    public void changed(TenantName tenant) {
        tenants.changed(tenant);
    }

    /** Announcements may have been missed. */
    public void allChanged() {
        tenants.allChanged();
    }
}
