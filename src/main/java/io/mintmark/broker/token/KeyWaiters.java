package io.mintmark.broker.token;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.token.PendingFetch.Fetched;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/** The requests that wait for keys of one source; their number is limited. */
final class KeyWaiters {
    /** Requests that may wait. */
    static final int MOST = 64;

    private static final Duration SOON = Duration.ofSeconds(1);

    private final String issuer;
    private final Semaphore places = new Semaphore(MOST);

    /**
     * A request that needs keys.
     *
     * @param tenant of the identity provider that the token leads to
     * @param beforeWait called before the request waits
     */
    record Asker(TenantName tenant, KeyWait beforeWait) {}

    KeyWaiters(String issuer) {
        this.issuer = issuer;
    }

    /**
     * Waits for the result of a fetch. If it fails because another tenant's share is used up, waits
     * for a second one.
     *
     * @throws Unavailable if the keys can't be had, or too many wait already
     */
    Fetched await(Asker asker, Supplier<PendingFetch> fetches) {
        PendingFetch first = fetches.get();
        try {
            return await(asker, first);
        } catch (CompletionException e) {
            if (!PendingFetch.isBusy(e.getCause()) || first.owner().equals(asker.tenant())) {
                throw unfetched(e);
            }
        }
        try {
            return await(asker, fetches.get());
        } catch (CompletionException e) {
            throw unfetched(e);
        }
    }

    private Fetched await(Asker asker, PendingFetch running) {
        if (running.result().isDone()) {
            return running.await();
        }
        if (!places.tryAcquire()) {
            throw new Unavailable(
                    Unavailable.Part.ISSUER,
                    "Too many requests are waiting for the signing keys of issuer '%s'; try again."
                            .formatted(issuer),
                    SOON);
        }
        try {
            asker.beforeWait().begins(asker.tenant());
            return running.await();
        } finally {
            places.release();
        }
    }

    private Unavailable unfetched(CompletionException failure) {
        Throwable cause = failure.getCause();
        if (cause instanceof Unavailable unavailable) {
            return unavailable;
        }
        return unfetched(PendingFetch.isBusy(cause) ? SOON : SourceKeys.AFTER_FAILURE, cause);
    }

    /**
     * Creates the exception to throw if keys can't be fetched.
     *
     * @param retryAfter when a retry is worthwhile; raised to one second if it is shorter
     */
    Unavailable unfetched(Duration retryAfter, @Nullable Throwable cause) {
        String message =
                "The signing keys of issuer '%s' can't be fetched at the moment.".formatted(issuer);
        Duration later = retryAfter.compareTo(SOON) < 0 ? SOON : retryAfter;
        return cause == null
                ? new Unavailable(Unavailable.Part.ISSUER, message, later)
                : new Unavailable(Unavailable.Part.ISSUER, message, later, cause);
    }
}
