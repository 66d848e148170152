package io.mintmark.token;

import io.mintmark.tenant.TenantName;
import io.mintmark.token.Flight.Fetched;
import io.mintmark.token.KeySet.Finding;
import io.mintmark.token.KeyWaiters.Asker;
import io.mintmark.verdict.Unavailable;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** The keys of one source as last fetched, and the one fetch that may be in flight. */
final class SourceKeys {
    static final Duration FRESH = Duration.ofMinutes(5);
    static final Duration USABLE = Duration.ofHours(1);
    static final Duration BETWEEN_RENEWALS = Duration.ofSeconds(2);
    static final Duration AFTER_FAILURE = Duration.ofSeconds(5);

    /** A request waits no longer for a fetch to begin. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(SourceKeys.class);

    private final KeySource source;
    private final Means means;
    private final KeyWaiters waiters;

    private volatile @Nullable Fetched latest;
    private volatile @Nullable Flight flight;
    private volatile @Nullable Flight next;
    private final AtomicLong begun = new AtomicLong();
    private Instant quietUntil = Instant.MIN;
    private Instant renewableFrom = Instant.MIN;
    private boolean failing;

    /**
     * What all sources have in common.
     *
     * @param betweenRenewals how often unknown {@code kid}s may have the keys fetched
     * @param pace of the fetches that aren't the first ones of their source
     * @param landed called when keys were fetched, so that {@link #bytes} may have changed
     */
    record Means(
            KeyFetch fetch,
            Executor executor,
            InstantSource clock,
            Duration betweenRenewals,
            FetchPace pace,
            Consumer<SourceKeys> landed) {}

    SourceKeys(KeySource source, Means means) {
        this.source = source;
        this.means = means;
        this.waiters = new KeyWaiters(source.issuer());
    }

    KeySource source() {
        return source;
    }

    /** Whether {@link #check} would answer without waiting, if a key has the token's kid. */
    boolean atHand() {
        Fetched fetched = latest;
        return source.jwks().isPresent()
                || (fetched != null && fetched.isYoungerThan(USABLE, now()));
    }

    /** Whether nothing is in flight, so that no request waits. */
    boolean isIdle() {
        return flight == null && next == null;
    }

    /** Bytes that this takes on the heap, at most. */
    long bytes() {
        Fetched fetched = latest;
        return source.bytes() + (fetched == null ? 0 : fetched.keys().bytes());
    }

    /**
     * Checks a token's signature.
     *
     * <p>If no cached key has the token's {@code kid}, and the row doesn't contain the keys itself,
     * they are fetched until one does, or until all URLs were asked after the token arrived. Such
     * fetches happen at most once in two seconds, and an earlier request waits for the next: the
     * keys may have changed right after the last fetch, which an unverified token with a made-up
     * {@code kid} may have caused.
     */
    Finding check(Jwt jwt, Asker asker) {
        long before = begun.get();
        Finding finding = current(asker).check(jwt);
        Predicate<KeySet> enough = keys -> jwt.keyId().filter(keys::hasKeyNamed).isPresent();
        boolean whole = source.jwks().isPresent();
        while (finding == Finding.KEY_UNKNOWN && !whole) {
            Fetched fetched = waiters.await(asker, () -> renewal(before, asker.tenant(), enough));
            finding = fetched.keys().check(jwt);
            whole = fetched.isWholeSince(before);
            if (finding == Finding.KEY_UNKNOWN && whole && !fetched.keys().isComplete()) {
                throw waiters.unfetched(means.betweenRenewals(), null);
            }
        }
        return finding;
    }

    /** The keys, at most an hour old; waits only if there are none. */
    private KeySet current(Asker asker) {
        Instant now = now();
        Fetched fetched = latest;
        if (fetched == null || !fetched.isYoungerThan(USABLE, now)) {
            return waiters.await(asker, () -> joined(asker.tenant())).keys();
        }
        if (!fetched.isYoungerThan(FRESH, now) && flight == null) {
            refresh(asker.tenant());
        }
        return fetched.keys();
    }

    private synchronized Flight renewal(long before, TenantName owner, Predicate<KeySet> enough) {
        Fetched fetched = latest;
        if (fetched != null && fetched.isWholeSince(before)) {
            return Flight.landed(owner, fetched);
        }
        Flight current = flight;
        if (current != null) {
            return current;
        }
        Instant now = now();
        if (now.isBefore(renewableFrom)) {
            Duration wait = Duration.between(now, renewableFrom);
            if (failing || wait.compareTo(LONGEST_WAIT) > 0) {
                throw waiters.unfetched(wait, null);
            }
            return planned(new Flight(owner, enough), wait);
        }
        renewableFrom = means.pace().from(now, means.betweenRenewals());
        return start(new Flight(owner, enough));
    }

    /** The fetch that begins when the next one may. */
    private Flight planned(Flight wanted, Duration wait) {
        Flight planned = next;
        if (planned == null) {
            planned = wanted;
            next = planned;
            CompletableFuture.delayedExecutor(
                            wait.toMillis(), TimeUnit.MILLISECONDS, means.executor())
                    .execute(this::takeOff);
        }
        return planned;
    }

    /** Begins the planned fetch, or if another is in flight, as soon as that has landed. */
    private synchronized void takeOff() {
        Flight planned = next;
        Flight current = flight;
        if (planned == null) {
            return;
        }
        if (current != null) {
            var _ = current.landing().whenComplete((_, _) -> takeOff());
            return;
        }
        next = null;
        renewableFrom = means.pace().from(now(), means.betweenRenewals());
        try {
            var _ = start(planned);
        } catch (Unavailable e) {
            planned.landing().completeExceptionally(e);
        }
    }

    private synchronized void refresh(TenantName owner) {
        if (flight == null && !now().isBefore(quietUntil)) {
            var _ = start(forAnyToken(owner));
        }
    }

    /** The fetch in flight, or a new one, unless the last has just failed. */
    private synchronized Flight joined(TenantName owner) {
        Flight current = flight;
        return current == null ? start(forAnyToken(owner)) : current;
    }

    /** An empty set is no token's. */
    private static Flight forAnyToken(TenantName owner) {
        return new Flight(owner, keys -> !keys.isEmpty());
    }

    private synchronized Flight start(Flight started) {
        Instant now = now();
        if (now.isBefore(quietUntil)) {
            throw waiters.unfetched(Duration.between(now, quietUntil), null);
        }
        long number = begun.incrementAndGet();
        flight = started;
        means.executor().execute(() -> fly(started, number));
        return started;
    }

    /** Completes in any case, because waiters of a flight that doesn't would wait forever. */
    private void fly(Flight started, long number) {
        try {
            Fetched fetched = new Fetched(fetch(started), now(), number);
            arrived(fetched);
            means.landed().accept(this);
            started.landing().complete(fetched);
        } catch (IOException | RuntimeException | Error e) {
            LOG.warn("keys of issuer {} can't be fetched: {}", source.issuer(), e.getMessage());
            failed(e);
            started.landing().completeExceptionally(e);
        }
    }

    /** Keys that came from a second place are kept, an hour at most, while that can't be asked. */
    private KeySet fetch(Flight started) throws IOException {
        Fetched before = latest;
        if (before == null || !before.keys().hasSecond()) {
            return means.fetch().fetch(source, started.owner(), started.enough());
        }
        KeySet keys = means.fetch().fetch(source, started.owner(), _ -> false);
        if (!keys.isComplete()) {
            throw new IOException("the discovery document's keys can't be fetched");
        }
        return keys;
    }

    private synchronized void arrived(Fetched fetched) {
        latest = fetched;
        failing = false;
        quietUntil = Instant.MIN;
        flight = null;
    }

    /** That a tenant has too much in flight says nothing about the issuer. */
    private synchronized void failed(Throwable failure) {
        flight = null;
        if (!Flight.isBusy(failure)) {
            failing = true;
            quietUntil = means.pace().from(now(), AFTER_FAILURE);
        }
    }

    private Instant now() {
        return means.clock().instant();
    }
}
