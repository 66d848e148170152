package io.mintmark.token;

import io.mintmark.verdict.Unavailable;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** The keys of one source as last fetched, and the one fetch that may be under way. */
final class SourceKeys {
    static final Duration FRESH = Duration.ofMinutes(5);
    static final Duration USABLE = Duration.ofHours(1);
    static final Duration BETWEEN_RENEWALS = Duration.ofSeconds(2);
    static final Duration AFTER_FAILURE = Duration.ofSeconds(5);

    /** Of those who ask for keys that aren't there, how many may wait for the next fetch. */
    static final int MAX_WAITING = 64;

    private static final Logger LOG = LoggerFactory.getLogger(SourceKeys.class);

    private final KeySource source;
    private final KeyFetch fetch;
    private final Executor executor;
    private final InstantSource clock;
    private final Duration betweenRenewals;

    private volatile @Nullable Fetched latest;
    private volatile @Nullable CompletableFuture<KeySet> flight;
    private @Nullable CompletableFuture<KeySet> next;
    private int waiting;
    private Instant quietUntil = Instant.MIN;
    private Instant renewableFrom = Instant.MIN;
    private boolean failing;

    private record Fetched(KeySet keys, Instant at) {
        boolean isYoungerThan(Duration age, Instant now) {
            return now.isBefore(at.plus(age));
        }
    }

    SourceKeys(
            KeySource source,
            KeyFetch fetch,
            Executor executor,
            InstantSource clock,
            Duration betweenRenewals) {
        this.source = source;
        this.fetch = fetch;
        this.executor = executor;
        this.clock = clock;
        this.betweenRenewals = betweenRenewals;
    }

    /** Whether {@link #current} would answer without waiting for anybody. */
    boolean atHand() {
        Fetched fetched = latest;
        return source.jwks().isPresent()
                || (fetched != null && fetched.isYoungerThan(USABLE, clock.instant()));
    }

    /** Whether a fetch is under way. What it brings may be older than what is asked now. */
    boolean isFetching() {
        return flight != null;
    }

    /** The keys, at most an hour old; waits only where there are none. */
    KeySet current() {
        Instant now = clock.instant();
        Fetched fetched = latest;
        if (fetched == null || !fetched.isYoungerThan(USABLE, now)) {
            return await(joinFlight(now));
        }
        if (!fetched.isYoungerThan(FRESH, now)) {
            refresh(now);
        }
        return fetched.keys();
    }

    /**
     * The keys after those that were seen: of a fetch that happened meanwhile, or of one more. That
     * one more is made at most once in two seconds, and who comes before that waits for it: the
     * keys may have changed right after the last, which a stranger with a made-up {@code kid} had
     * fetched.
     */
    KeySet after(KeySet seen) {
        return await(flightAfter(seen, clock.instant()));
    }

    private synchronized CompletableFuture<KeySet> flightAfter(KeySet seen, Instant now) {
        Fetched fetched = latest;
        if (fetched != null && fetched.keys() != seen) {
            return CompletableFuture.completedFuture(fetched.keys());
        }
        if (flight == null && now.isBefore(renewableFrom)) {
            if (failing) {
                throw unavailable(Duration.between(now, renewableFrom), null);
            }
            return joinNext(now);
        }
        renewableFrom = now.plus(betweenRenewals);
        return joinFlight(now);
    }

    /** The fetch that begins when the next one may. */
    private synchronized CompletableFuture<KeySet> joinNext(Instant now) {
        Duration wait = Duration.between(now, renewableFrom);
        if (waiting == MAX_WAITING) {
            throw unavailable(wait, null);
        }
        waiting++;
        CompletableFuture<KeySet> planned = next;
        if (planned == null) {
            planned =
                    CompletableFuture.runAsync(
                                    () -> {},
                                    CompletableFuture.delayedExecutor(
                                            wait.toMillis(), TimeUnit.MILLISECONDS, executor))
                            .thenCompose(_ -> takeOff());
            next = planned;
        }
        return planned.whenComplete((_, _) -> left());
    }

    private synchronized CompletableFuture<KeySet> takeOff() {
        next = null;
        Instant now = clock.instant();
        renewableFrom = now.plus(betweenRenewals);
        return joinFlight(now);
    }

    private synchronized void left() {
        waiting--;
    }

    private synchronized void refresh(Instant now) {
        if (!now.isBefore(quietUntil)) {
            var _ = joinFlight(now);
        }
    }

    /** The fetch under way, or a new one, unless the last has just failed. */
    private synchronized CompletableFuture<KeySet> joinFlight(Instant now) {
        CompletableFuture<KeySet> underWay = flight;
        if (underWay != null) {
            return underWay;
        }
        if (now.isBefore(quietUntil)) {
            throw unavailable(Duration.between(now, quietUntil), null);
        }
        CompletableFuture<KeySet> started = new CompletableFuture<>();
        flight = started;
        executor.execute(() -> fly(started));
        return started;
    }

    /** Lands whatever happens: a flight that never did would be waited for without end. */
    private void fly(CompletableFuture<KeySet> started) {
        try {
            KeySet keys = fetch.fetch(source);
            arrived(keys, clock.instant());
            started.complete(keys);
        } catch (IOException | RuntimeException | Error e) {
            LOG.warn("keys of issuer {} can't be fetched: {}", source.issuer(), e.getMessage());
            failed(clock.instant());
            started.completeExceptionally(e);
        }
    }

    private synchronized void arrived(KeySet keys, Instant now) {
        latest = new Fetched(keys, now);
        failing = false;
        quietUntil = Instant.MIN;
        flight = null;
    }

    private synchronized void failed(Instant now) {
        failing = true;
        quietUntil = now.plus(AFTER_FAILURE);
        flight = null;
    }

    private KeySet await(CompletableFuture<KeySet> awaited) {
        try {
            return awaited.join();
        } catch (CompletionException e) {
            throw unavailable(AFTER_FAILURE, e.getCause());
        }
    }

    private Unavailable unavailable(Duration retryAfter, @Nullable Throwable cause) {
        String message =
                "The signing keys of issuer '%s' can't be fetched at the moment."
                        .formatted(source.issuer());
        Duration wait =
                retryAfter.compareTo(Duration.ofSeconds(1)) < 0
                        ? Duration.ofSeconds(1)
                        : retryAfter;
        return cause == null
                ? new Unavailable(message, wait)
                : new Unavailable(message, wait, cause);
    }
}
