package io.mintmark.broker.token;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.token.KeySet.Finding;
import io.mintmark.broker.token.KeyWaiters.Asker;
import io.mintmark.broker.token.PendingFetch.Fetched;

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

/** The keys of one source as last fetched, and the one fetch that may be running. */
final class SourceKeys {
    static final Duration FRESH = Duration.ofMinutes(5);
    static final Duration USABLE = Duration.ofHours(1);
    static final Duration BETWEEN_RENEWALS = Duration.ofSeconds(2);
    static final Duration AFTER_FAILURE = Duration.ofSeconds(5);

    /** The maximum wait of a request for a fetch to begin. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(SourceKeys.class);

    private final KeySource source;
    private final Shared shared;
    private final KeyWaiters waiters;

    private volatile @Nullable Fetched latest;
    private volatile @Nullable PendingFetch running;
    private volatile @Nullable PendingFetch next;
    private final AtomicLong begun = new AtomicLong();
    private Instant quietUntil = Instant.MIN;
    private Instant renewableFrom = Instant.MIN;
    private final IgnoredKeys ignored;
    private boolean failing;
    private volatile @Nullable Throwable lastFailure;

    /**
     * What all sources have in common.
     *
     * @param betweenRenewals how often unknown {@code kid}s may have the keys fetched
     * @param pace of the fetches that aren't the first ones of their source
     * @param onFetched called when keys were fetched, so that {@link #bytes} may have changed
     */
    record Shared(
            KeyFetch fetch,
            Executor executor,
            InstantSource clock,
            Duration betweenRenewals,
            FetchPace pace,
            Consumer<SourceKeys> onFetched) {}

    SourceKeys(KeySource source, Shared shared) {
        this.source = source;
        this.shared = shared;
        this.waiters = new KeyWaiters(source.issuer());
        this.ignored = new IgnoredKeys(source.issuer());
    }

    KeySource source() {
        return source;
    }

    /**
     * Whether {@link #check} would answer without waiting, if a key has the token's {@code kid}.
     */
    boolean atHand() {
        Fetched fetched = latest;
        return source.jwks().isPresent()
                || (fetched != null && fetched.isYoungerThan(USABLE, now()));
    }

    /** Whether no fetch is running, so that no request waits. */
    boolean isIdle() {
        return running == null && next == null;
    }

    /** An upper bound of the keys' size on the heap, in bytes. */
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
     *
     * <p>If the key with that {@code kid} doesn't verify the token, the issuer may have replaced
     * it, so the keys are fetched too, as often. A request that comes before they may be fetched
     * again doesn't wait: anybody can make up signatures, and the keys are two seconds old at most.
     */
    Finding check(Jwt jwt, Asker asker) {
        long before = begun.get();
        Fetched checked = current(asker);
        Finding finding = checked.keys().check(jwt);
        Predicate<KeySet> enough = keys -> jwt.keyId().filter(keys::hasKeyNamed).isPresent();
        while (!source.jwks().isPresent() && isOpen(finding, checked, before)) {
            boolean mayWait = finding == Finding.KEY_UNKNOWN;
            Fetched fetched =
                    waiters.await(asker, () -> renewal(before, asker.tenant(), enough, mayWait));
            if (fetched.number() == checked.number() && !mayWait) {
                return finding;
            }
            checked = fetched;
            finding = checked.keys().check(jwt);
        }
        if (finding == Finding.KEY_UNKNOWN && !checked.keys().isComplete()) {
            throw waiters.unfetched(shared.betweenRenewals(), lastFailure);
        }
        return finding;
    }

    /** Whether keys that are fetched after the token arrived could change what was found. */
    private static boolean isOpen(Finding finding, Fetched checked, long before) {
        return switch (finding) {
            case KEY_UNKNOWN -> !checked.isWholeSince(before);
            case NOT_VERIFIED -> !checked.isSince(before);
            case VERIFIED, KEY_ID_MISSING -> false;
        };
    }

    /** The keys, at most an hour old; waits only if there are none. */
    private Fetched current(Asker asker) {
        Instant now = now();
        Fetched fetched = latest;
        if (fetched == null || !fetched.isYoungerThan(USABLE, now)) {
            return waiters.await(asker, () -> joined(asker.tenant()));
        }
        if (!fetched.isYoungerThan(FRESH, now) && running == null) {
            refresh(asker.tenant());
        }
        return fetched;
    }

    /**
     * @param mayWait whether to wait until the keys may be fetched again; else those that are there
     *     must do
     */
    private synchronized PendingFetch renewal(
            long before, TenantName owner, Predicate<KeySet> enough, boolean mayWait) {
        Fetched fetched = latest;
        if (fetched != null && fetched.isWholeSince(before)) {
            return PendingFetch.completed(owner, fetched);
        }
        PendingFetch current = running;
        if (current != null) {
            return current;
        }
        Instant now = now();
        if (now.isBefore(renewableFrom)) {
            Duration wait = Duration.between(now, renewableFrom);
            if (failing || (mayWait && wait.compareTo(LONGEST_WAIT) > 0)) {
                throw waiters.unfetched(wait, lastFailure);
            }
            if (!mayWait && fetched != null) {
                return PendingFetch.completed(owner, fetched);
            }
            return planned(new PendingFetch(owner, enough), wait);
        }
        renewableFrom = shared.pace().from(now, shared.betweenRenewals());
        return start(new PendingFetch(owner, enough));
    }

    /** The fetch that begins when the next one may. */
    private PendingFetch planned(PendingFetch wanted, Duration wait) {
        PendingFetch planned = next;
        if (planned == null) {
            planned = wanted;
            next = planned;
            CompletableFuture.delayedExecutor(
                            wait.toMillis(), TimeUnit.MILLISECONDS, shared.executor())
                    .execute(this::startPlanned);
        }
        return planned;
    }

    /** Begins the planned fetch, or if another is running, as soon as that has ended. */
    private synchronized void startPlanned() {
        PendingFetch planned = next;
        PendingFetch current = running;
        if (planned == null) {
            return;
        }
        if (current != null) {
            var _ = current.result().whenComplete((_, _) -> startPlanned());
            return;
        }
        next = null;
        renewableFrom = shared.pace().from(now(), shared.betweenRenewals());
        try {
            var _ = start(planned);
        } catch (Unavailable e) {
            planned.result().completeExceptionally(e);
        }
    }

    private synchronized void refresh(TenantName owner) {
        if (running == null && !now().isBefore(quietUntil)) {
            var _ = start(forAnyToken(owner));
        }
    }

    /** The running fetch, or a new one, unless the last has just failed. */
    private synchronized PendingFetch joined(TenantName owner) {
        PendingFetch current = running;
        return current == null ? start(forAnyToken(owner)) : current;
    }

    /** A fetch that any token may use. An empty set verifies no token, so it isn't enough. */
    private static PendingFetch forAnyToken(TenantName owner) {
        return new PendingFetch(owner, keys -> !keys.isEmpty());
    }

    private synchronized PendingFetch start(PendingFetch started) {
        Instant now = now();
        if (now.isBefore(quietUntil)) {
            throw waiters.unfetched(Duration.between(now, quietUntil), lastFailure);
        }
        long number = begun.incrementAndGet();
        running = started;
        shared.executor().execute(() -> run(started, number));
        return started;
    }

    /**
     * Completes in any case, because waiters of a fetch that doesn't complete would wait forever.
     */
    private void run(PendingFetch started, long number) {
        try {
            Fetched fetched = new Fetched(fetch(started), now(), number);
            succeeded(fetched);
            shared.onFetched().accept(this);
            started.result().complete(fetched);
        } catch (IOException | RuntimeException | Error e) {
            LOG.warn(
                    "The signing keys of issuer '{}' can't be fetched: {}",
                    source.issuer(),
                    e.getMessage());
            failed(e);
            started.result().completeExceptionally(e);
        }
    }

    /** Keys that came from a second place are kept, an hour at most, while that can't be asked. */
    private KeySet fetch(PendingFetch started) throws IOException {
        Fetched before = latest;
        if (before == null || !before.keys().hasSecond()) {
            return shared.fetch().fetch(source, started.owner(), started.enough());
        }
        KeySet keys = shared.fetch().fetch(source, started.owner(), _ -> false);
        if (!keys.isComplete()) {
            throw new IOException("the discovery document's keys can't be fetched");
        }
        return keys;
    }

    private synchronized void succeeded(Fetched fetched) {
        ignored.name(fetched.keys());
        latest = fetched;
        lastFailure = null;
        failing = false;
        quietUntil = Instant.MIN;
        running = null;
    }

    /** A tenant with too many fetches in flight doesn't make the issuer count as failing. */
    private synchronized void failed(Throwable failure) {
        running = null;
        if (!PendingFetch.isBusy(failure)) {
            failing = true;
            lastFailure = failure;
            quietUntil = shared.pace().from(now(), AFTER_FAILURE);
        }
    }

    private Instant now() {
        return shared.clock().instant();
    }
}
