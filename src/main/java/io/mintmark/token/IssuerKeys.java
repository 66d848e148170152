package io.mintmark.token;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.mintmark.outbound.GuardedHttp;

import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Executor;

/**
 * The signing keys of all issuers. A source that many identity providers share is fetched once:
 *
 * <ul>
 *   <li>for five minutes the keys are used as they are; then they are fetched anew in the
 *       background, and used meanwhile, though not for more than an hour after they were fetched;
 *   <li>a {@code kid} that isn't among them has them fetched once more, at most once in two
 *       seconds; whoever comes in between waits for the next fetch, as long as not too many do;
 *   <li>for each source one fetch is under way at a time, and after one that failed none for five
 *       seconds: until then whoever needs it is told at once.
 * </ul>
 *
 * Where keys can't be fetched, {@link io.mintmark.verdict.Unavailable} is thrown.
 */
public final class IssuerKeys {
    private static final int MAX_SOURCES = 10_000;

    private final Cache<KeySource, SourceKeys> bySource =
            Caffeine.newBuilder().maximumSize(MAX_SOURCES).executor(Runnable::run).build();
    private final KeyFetch fetch;
    private final Executor executor;
    private final InstantSource clock;
    private final Duration betweenRenewals;

    public IssuerKeys(GuardedHttp http, InstantSource clock) {
        this(http, clock, (_, _) -> {});
    }

    public IssuerKeys(GuardedHttp http, InstantSource clock, KeySetListener listener) {
        this(
                new HeardFetch(new KeySetFetch(http), listener),
                task -> Thread.ofVirtual().name("signing-keys").start(task),
                clock,
                SourceKeys.BETWEEN_RENEWALS);
    }

    /**
     * @param betweenRenewals how often unknown {@code kid}s may have the keys fetched
     */
    IssuerKeys(KeyFetch fetch, Executor executor, InstantSource clock, Duration betweenRenewals) {
        this.fetch = fetch;
        this.executor = executor;
        this.clock = clock;
        this.betweenRenewals = betweenRenewals;
    }

    /** Whether the keys are here, so that asking for them costs no waiting. */
    boolean atHand(KeySource source) {
        return of(source).atHand();
    }

    /** Checks a token's signature with the keys of a source. */
    KeySet.Finding check(Jwt jwt, KeySource source) {
        SourceKeys keys = of(source);
        boolean fetching = keys.isFetching();
        KeySet current = keys.current();
        KeySet.Finding finding = current.check(jwt);
        if (finding != KeySet.Finding.KEY_UNKNOWN) {
            return finding;
        }
        KeySet next = keys.after(current);
        finding = next.check(jwt);
        // a fetch that began before the token came may have missed its key
        return finding == KeySet.Finding.KEY_UNKNOWN && fetching
                ? keys.after(next).check(jwt)
                : finding;
    }

    private SourceKeys of(KeySource source) {
        return bySource.get(
                source, s -> new SourceKeys(s, fetch, executor, clock, betweenRenewals));
    }
}
