package io.mintmark.broker.grant;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.mintmark.base.limit.WeightByOwner;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.StateId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;
import io.mintmark.base.time.Clocks;
import io.mintmark.base.verdict.Unavailable;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The configuration of tenants, read for each tenant on demand and kept as immutable snapshots. A
 * snapshot that is older than the allowed staleness, or that is known to have changed, isn't used
 * before the database has been asked for the tenant's state.
 */
public final class Catalogue {
    private static final Logger log = LoggerFactory.getLogger(Catalogue.class);

    /** The overhead of a value: its entry in a cache, its key, and locks. */
    private static final int ENTRY = 512;

    private static final int ATTEMPTS = 5;
    private static final Duration SOON = Duration.ofSeconds(1);
    private static final Duration LATER = Duration.ofMinutes(1);

    private record Subject(TenantName tenant, IdpName idp, String name) {
        /** Uses only the fields that mostly differ, because every request computes it. */
        @Override
        public int hashCode() {
            return Objects.hash(tenant.value(), name);
        }

        long bytes() {
            return (long) Character.BYTES * name.length();
        }
    }

    private final CatalogueStore store;
    private final CatalogueMemory memory;
    private final TenantReaders readers;

    private enum Shared {
        BY_ALL_TENANTS
    }

    private final SingleFlightCache<TenantName, TenantSnapshot> tenants;
    private final SingleFlightCache<Shared, SharedSnapshot> shared;
    private final SingleFlightCache<Subject, SubjectGrants> subjects;
    private final MatchingMeter meter;
    private final Clocks clocks;

    /** Tenants whose size was logged within the last minute. */
    private final Cache<TenantName, Boolean> logged =
            Caffeine.newBuilder().expireAfterWrite(LATER).executor(Runnable::run).build();

    /**
     * A catalogue of the tenants in a store.
     *
     * @param maxStaleness the maximum age of a state that is used without asking the store
     * @param clocks are set to the database's time by its answers
     * @param nanos a monotonic clock, in nanoseconds
     */
    public Catalogue(
            CatalogueStore store, Duration maxStaleness, Clocks clocks, LongSupplier nanos) {
        this(store, CatalogueMemory.ofProcess(), maxStaleness, clocks, nanos);
    }

    Catalogue(
            CatalogueStore store,
            CatalogueMemory memory,
            Duration maxStaleness,
            Clocks clocks,
            LongSupplier nanos) {
        this.store = store;
        this.memory = memory;
        this.readers = new TenantReaders(memory);
        this.meter = new MatchingMeter(nanos);
        this.clocks = clocks;
        this.tenants =
                new SingleFlightCache<>(
                        maxStaleness,
                        memory.tenants(),
                        (_, snapshot) -> ENTRY + snapshot.bytes(),
                        nanos,
                        this::snapshot);
        this.shared =
                new SingleFlightCache<>(
                        maxStaleness, 1, nanos, (_, known) -> sharedSnapshot(known));
        this.subjects =
                new SingleFlightCache<>(
                        Duration.ofNanos(Long.MAX_VALUE),
                        memory.subjects(),
                        (subject, grants) -> ENTRY + subject.bytes() + grants.bytes(),
                        new WeightByOwner<>(Subject::tenant, this::leftForSubjects),
                        nanos,
                        (subject, _) -> readGrants(subject));
    }

    private long leftForSubjects(Subject subject) {
        return memory.keptOfTenant() - tenants.weight(subject.tenant());
    }

    private TenantSnapshot snapshot(TenantName tenant, @Nullable TenantSnapshot known) {
        if (known != null && known.state().equals(store.state(tenant))) {
            return known;
        }
        TenantSnapshot read = readers.read(tenant, most -> store.tenant(tenant, most));
        if (read.tooLarge()) {
            logTooLarge(
                    tenant,
                    "identity and access providers, keys, glob grants and glob blocks than fit into the %d KiB of memory that a replica has for them"
                            .formatted(memory.large() / 1024));
        }
        return read;
    }

    private SubjectGrants readGrants(Subject subject) {
        SubjectGrants read =
                readers.read(
                        subject.tenant(),
                        most ->
                                store.grants(
                                        subject.tenant(), subject.idp(), subject.name(), most));
        if (read.tooLarge()) {
            logTooLarge(
                    subject.tenant(),
                    "grants of one subject of identity provider '%s' than a replica reads: at most %d, in %d KiB of memory"
                            .formatted(subject.idp(), SubjectGrants.MOST, memory.large() / 1024));
        }
        return read;
    }

    private void logTooLarge(TenantName tenant, String what) {
        if (logged.asMap().putIfAbsent(tenant, true) == null) {
            log.warn(
                    "tenant_too_large: tenant '{}' has more {}; requests that need these rows get 503, so an admin must delete unused ones",
                    tenant,
                    what);
        }
    }

    private SharedSnapshot sharedSnapshot(@Nullable SharedSnapshot known) {
        if (known != null && known.state().equals(sharedState())) {
            return known;
        }
        return clocks.asking(store::shared, SharedSnapshot::readAt);
    }

    private StateId sharedState() {
        return clocks.asking(store::sharedState, CatalogueStore.SharedState::readAt).state();
    }

    /**
     * The entitlements of a request's parties at its tenant, all of one state.
     *
     * @throws Unavailable if they can't be read, or take too much work to decide
     */
    public Entitlements entitlements(TenantName tenant, Parties parties) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            TenantSnapshot own = requireFit(tenants.get(tenant), tenant);
            SharedSnapshot ofAll = shared.get(Shared.BY_ALL_TENANTS);
            TenantState state = new TenantState(own.state(), ofAll.state());
            SubjectGrants grants = grants(tenant, state, parties.subject());
            Optional<SubjectGrants> actor =
                    parties.actor().map(party -> grants(tenant, state, party));
            if (grants.state().equals(state)
                    && actor.stream().allMatch(read -> read.state().equals(state))) {
                var _ = requireFit(grants, tenant);
                return meter.within(
                        tenant,
                        budget ->
                                new Entitlements(
                                        own,
                                        ofAll,
                                        grants,
                                        actor.map(SubjectGrants::blockedUntil).orElse(Instant.MIN),
                                        parties,
                                        clocks.database(),
                                        budget));
            }
            changed(tenant);
        }
        throw new Unavailable(
                "The configuration of tenant '%s' is being changed; try again.".formatted(tenant),
                SOON);
    }

    /**
     * The grants of a subject in the tenant's state. Those of another state are outdated, or newer
     * than the tenant's snapshot.
     */
    private SubjectGrants grants(TenantName tenant, TenantState state, Party party) {
        return subjects.get(
                new Subject(tenant, party.idp(), party.subject()),
                kept -> kept.state().equals(state));
    }

    private static <T extends Weighed> T requireFit(T read, TenantName tenant) {
        if (read.tooLarge()) {
            throw new Unavailable(
                    "The configuration of tenant '%s' is too large to be read; an admin must delete unused keys, grants and globs."
                            .formatted(tenant),
                    LATER);
        }
        return read;
    }

    /** Notes that this tenant, or data of all tenants, may have changed. */
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
        StateId now = sharedState();
        boolean changed =
                held.values().values().stream().anyMatch(snapshot -> !snapshot.state().equals(now));
        held.changed(_ -> changed);
    }
}
