package io.mintmark.grant;

import io.mintmark.token.IdentityProvider;
import io.mintmark.token.IdentityProviders;
import io.mintmark.token.OwnIssuer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The identity providers, read when a token asks for them and kept for a while. What is kept is
 * bounded: tokens that nobody signed can name any issuer and audience they like.
 *
 * <p>An identity provider for one of the broker's own issuers isn't listed: its tokens are refused,
 * and the database can't refuse the row because it doesn't know the broker's address.
 */
public final class KnownIssuers implements IdentityProviders {
    private static final Logger log = LoggerFactory.getLogger(KnownIssuers.class);
    private static final int ANSWERS_KEPT = 10_000;

    private record Pairs(String issuer, Set<String> audiences) {}

    private enum Everything {
        LISTED
    }

    private final SingleFlightCache<String, Boolean> known;
    private final SingleFlightCache<Pairs, List<IdentityProvider>> trusting;
    private final SingleFlightCache<String, List<IdentityProvider>> listedOf;
    private final SingleFlightCache<Everything, List<IdentityProvider>> listed;
    private final IdentityProviderStore store;
    private final OwnIssuer ownIssuer;
    private volatile String fingerprint = "";
    private final Set<String> told = ConcurrentHashMap.newKeySet();

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
        this.store = store;
        this.ownIssuer = ownIssuer;
        known =
                new SingleFlightCache<>(
                        maxStaleness, ANSWERS_KEPT, nanos, (issuer, _) -> store.knows(issuer));
        trusting =
                new SingleFlightCache<>(
                        maxStaleness,
                        ANSWERS_KEPT,
                        nanos,
                        (pairs, _) -> store.trusting(pairs.issuer(), pairs.audiences()));
        listedOf =
                new SingleFlightCache<>(
                        maxStaleness,
                        ANSWERS_KEPT,
                        nanos,
                        (issuer, _) -> others(store.listed(issuer)));
        listed = new SingleFlightCache<>(maxStaleness, 1, nanos, (_, _) -> others(store.listed()));
    }

    private List<IdentityProvider> others(List<IdentityProvider> providers) {
        return providers.stream().filter(this::isOfOthers).toList();
    }

    private boolean isOfOthers(IdentityProvider provider) {
        boolean own = ownIssuer.is(provider.issuer());
        if (own && told.add(provider.name().value())) {
            log.warn(
                    "The identity provider '{}' is ignored: {} is the broker's own issuer, whose"
                            + " tokens are never accepted",
                    provider.name(),
                    provider.issuer());
        }
        return !own;
    }

    @Override
    public boolean knows(String issuer) {
        return known.get(issuer);
    }

    @Override
    public List<IdentityProvider> trusting(String issuer, Collection<String> audiences) {
        return trusting.get(new Pairs(issuer, Set.copyOf(audiences)));
    }

    @Override
    public List<IdentityProvider> listed(String issuer) {
        return listedOf.get(issuer);
    }

    @Override
    public List<IdentityProvider> listed() {
        return listed.get(Everything.LISTED);
    }

    /**
     * Asks the database, unless that was done a moment ago.
     *
     * @throws io.mintmark.verdict.Unavailable if identity providers can't be read
     */
    public void checkReadable() {
        known.get("");
    }

    /**
     * Asks the database whether anything about identity providers or tenants has changed. Called by
     * one thread.
     *
     * @throws io.mintmark.verdict.Unavailable if it can't be asked
     */
    void refresh() {
        var held = List.of(known.held(), trusting.held(), listedOf.held(), listed.held());
        String found = store.fingerprint();
        boolean changed = !found.equals(fingerprint);
        held.forEach(values -> values.changed(_ -> changed));
        fingerprint = found;
    }

    /** Something about identity providers or tenants may have changed. */
    public void changed() {
        known.allChanged();
        trusting.allChanged();
        listedOf.allChanged();
        listed.allChanged();
    }
}
