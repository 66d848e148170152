package io.mintmark.broker.token;

import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.token.KeySetListener.FetchResult;
import io.mintmark.broker.token.KeyWaiters.Asker;
import io.mintmark.broker.token.SourceKeys.Shared;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

/**
 * The signing keys of all issuers. A source that many identity providers share is fetched once:
 *
 * <ul>
 *   <li>for five minutes the keys are used as they are; then they are fetched again in the
 *       background and used until that is done, though not for more than an hour after they were
 *       fetched;
 *   <li>a {@code kid} that isn't among them has them fetched once more, at most once in two
 *       seconds; a request that comes before that waits for the next fetch;
 *   <li>for each source one fetch is running at a time, and after one that failed none for five
 *       seconds: until then a request that needs it fails at once;
 *   <li>of each source {@link KeyWaiters#MOST} requests may wait; more fail at once.
 * </ul>
 *
 * Where keys can't be fetched, {@link io.mintmark.base.verdict.Unavailable} is thrown.
 */
public final class IssuerKeys {
    /**
     * Key sets take a 32nd of the heap, but at least 8 MiB; those of one tenant an eighth of that.
     */
    private static final long MOST = Math.max(8 << 20, Runtime.getRuntime().maxMemory() / 32);

    private final KeySources sources;

    public IssuerKeys(GuardedHttp http, InstantSource clock) {
        this(http, clock, (_, _, _, _) -> {});
    }

    public IssuerKeys(GuardedHttp http, InstantSource clock, KeySetListener listener) {
        this(
                new ReportedFetch(new KeySetFetch(http), listener),
                task -> Thread.ofVirtual().name("signing-keys").start(task),
                clock,
                SourceKeys.BETWEEN_RENEWALS);
    }

    /**
     * @param betweenRenewals how often unknown {@code kid}s may have the keys fetched
     */
    IssuerKeys(KeyFetch fetch, Executor executor, InstantSource clock, Duration betweenRenewals) {
        this(fetch, executor, clock, betweenRenewals, MOST);
    }

    /**
     * @param most bytes that are kept
     */
    IssuerKeys(
            KeyFetch fetch,
            Executor executor,
            InstantSource clock,
            Duration betweenRenewals,
            long most) {
        Shared shared =
                new Shared(fetch, executor, clock, betweenRenewals, new FetchPace(), this::weigh);
        this.sources = new KeySources(most, most / 8, source -> new SourceKeys(source, shared));
    }

    private void weigh(SourceKeys keys) {
        sources.weigh(keys);
    }

    /** Whether the keys are cached, so that a check doesn't wait. */
    boolean atHand(IdentityProvider provider) {
        return sources.of(provider.keys(), provider.tenant()).atHand();
    }

    /**
     * Checks a token's signature with the keys of an identity provider.
     *
     * @param wait called before the thread waits for keys; the token's claims are dropped before
     */
    KeySet.Finding check(Jwt jwt, IdentityProvider provider, KeyWait wait) {
        KeyWait beforeWait =
                tenant -> {
                    jwt.dropClaims();
                    wait.begins(tenant);
                };
        return sources.of(provider.keys(), provider.tenant())
                .check(jwt, new Asker(provider.tenant(), beforeWait));
    }

    /** The size of the cached key sets, in bytes. */
    long bytes() {
        return sources.bytes();
    }

    /** Reports the result of every fetch over the network. */
    private static final class ReportedFetch implements KeyFetch {
        private final KeyFetch fetch;
        private final KeySetListener listener;

        ReportedFetch(KeyFetch fetch, KeySetListener listener) {
            this.fetch = fetch;
            this.listener = listener;
        }

        @Override
        public KeySet fetch(KeySource source, TenantName owner, Predicate<KeySet> enough)
                throws IOException {
            return source.jwks().isPresent()
                    ? fetch.fetch(source, owner, enough)
                    : heard(source, owner, enough);
        }

        private KeySet heard(KeySource source, TenantName owner, Predicate<KeySet> enough)
                throws IOException {
            long began = System.nanoTime();
            FetchResult result = FetchResult.FAILED;
            try {
                KeySet keys = fetch.fetch(source, owner, enough);
                result = FetchResult.SUCCEEDED;
                return keys;
            } catch (IOException e) {
                result = PendingFetch.isBusy(e) ? FetchResult.BUSY : FetchResult.FAILED;
                throw e;
            } finally {
                Duration taken = Duration.ofNanos(System.nanoTime() - began);
                listener.fetched(owner, source, result, taken);
            }
        }
    }
}
