package io.mintmark.broker.grant;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.grant.IssuerIndex.Entry;
import io.mintmark.broker.grant.IssuerIndex.Version;
import io.mintmark.broker.token.IdentityProvider;
import io.mintmark.broker.token.IdentityProviders;
import io.mintmark.broker.token.OwnIssuer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

/**
 * The identity providers. The index of all of them is kept in memory, and so are the rows that
 * tokens lead to, up to a number of bytes. Values of unverified tokens are only looked up: for an
 * unknown issuer or audience, nothing is read and nothing is kept.
 *
 * <p>An identity provider for one of the broker's own issuers isn't listed: its tokens are
 * rejected, and the database can't reject the row because it doesn't know the broker's address.
 */
public final class KnownIssuers implements IdentityProviders {
    private static final Logger log = LoggerFactory.getLogger(KnownIssuers.class);

    /** Rows take a 32nd of the heap, but at least 8 MiB. */
    private static final long ROWS = Math.max(8 << 20, Runtime.getRuntime().maxMemory() / 32);

    /** The overhead of a cached row, in bytes. */
    private static final long OBJECTS = 512;

    private enum Whole {
        INDEX
    }

    private final SingleFlightCache<Whole, IssuerIndex> index;
    private final SingleFlightCache<Version, Optional<IdentityProvider>> rows;
    private final IdentityProviderStore store;
    private final OwnIssuer ownIssuer;
    private final Set<String> warnedOf = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable IssuerIndex> lastRead = new AtomicReference<>();

    /**
     * @param ownIssuer the broker's own
     * @param maxStaleness after which nothing is used without asking again
     * @param nanos a clock that only goes forward, in nanoseconds
     */
    public KnownIssuers(
            IdentityProviderStore store,
            OwnIssuer ownIssuer,
            Duration maxStaleness,
            LongSupplier nanos) {
        this(store, ownIssuer, maxStaleness, nanos, ROWS);
    }

    /**
     * @param mostOfRows bytes that rows take
     */
    KnownIssuers(
            IdentityProviderStore store,
            OwnIssuer ownIssuer,
            Duration maxStaleness,
            LongSupplier nanos,
            long mostOfRows) {
        this.store = store;
        this.ownIssuer = ownIssuer;
        index = new SingleFlightCache<>(maxStaleness, 1, nanos, (_, known) -> read(known));
        rows =
                new SingleFlightCache<>(
                        Duration.ofNanos(Long.MAX_VALUE),
                        mostOfRows,
                        (_, row) ->
                                Math.toIntExact(
                                        OBJECTS + row.map(IdentityProvider::bytes).orElse(0L)),
                        nanos,
                        (version, _) -> store.provider(version.name()));
    }

    private IssuerIndex read(@Nullable IssuerIndex known) {
        IdentityProviderStore.Entries entries = store.entries();
        IssuerIndex read =
                known != null && known.isOf(entries)
                        ? known
                        : IssuerIndex.of(entries, this::isOfOthers);
        lastRead.set(read);
        return read;
    }

    private boolean isOfOthers(Entry entry) {
        boolean own = ownIssuer.is(entry.issuer());
        if (own && warnedOf.add(entry.version().name().value())) {
            log.warn(
                    "The identity provider '{}' is ignored: {} is the broker's own issuer, whose tokens are never accepted; delete the row",
                    entry.version().name(),
                    entry.issuer());
        }
        return !own;
    }

    private IssuerIndex index() {
        return index.get(Whole.INDEX);
    }

    private List<IdentityProvider> rows(Collection<Version> versions) {
        return versions.stream().flatMap(version -> rows.get(version).stream()).toList();
    }

    @Override
    public boolean knows(String issuer) {
        return index().knows(issuer);
    }

    @Override
    public List<IdentityProvider> trusting(String issuer, Set<String> audiences) {
        return rows(index().leadingFrom(issuer, audiences)).stream()
                .filter(provider -> provider.issuer().equals(issuer))
                .filter(provider -> !Collections.disjoint(provider.audiences(), audiences))
                .toList();
    }

    @Override
    public List<IdentityProvider> listed(String issuer) {
        return rows(index().listed(issuer));
    }

    @Override
    public List<String> listedIssuers() {
        return index().listedIssuers();
    }

    @Override
    public List<Listed> listed() {
        return index().listed();
    }

    @Override
    public List<Login> logins(TenantName tenant) {
        return index().logins(tenant);
    }

    @Override
    public List<Login> logins() {
        return index().logins();
    }

    /**
     * Services that verify tokens fetch the discovery document also while the database is away, and
     * what was read before is better than no answer.
     */
    @Override
    public Optional<String> tokenIssuer(TenantName tenant) {
        IssuerIndex last = lastRead.get();
        try {
            last = index();
        } catch (Unavailable e) {
            if (last == null) {
                throw e;
            }
        }
        return last.tokenIssuer(tenant);
    }

    /**
     * Asks the database, unless that was done a moment ago.
     *
     * @throws io.mintmark.base.verdict.Unavailable if identity providers can't be read
     */
    public void checkReadable() {
        var _ = index();
    }

    /**
     * Asks the database whether identity providers or tenants have changed, and rereads them if so;
     * requests use the previous state until that is done. Called by one thread.
     *
     * @throws io.mintmark.base.verdict.Unavailable if the database can't be asked
     */
    void refresh() {
        var held = index.held();
        IdentityProviderStore.Entries entries = store.entries();
        if (held.values().values().stream().allMatch(known -> known.isOf(entries))) {
            held.changed(_ -> false);
        } else {
            index.renew(Whole.INDEX);
        }
    }

    /** Notes that identity providers or tenants may have changed. */
    public void changed() {
        index.changed(Whole.INDEX);
    }
}
