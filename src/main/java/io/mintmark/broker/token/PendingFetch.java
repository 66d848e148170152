package io.mintmark.broker.token;

import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Predicate;

/**
 * One fetch of a source's keys, that several requests may wait for.
 *
 * @param owner the tenant in whose share of outbound calls it is made
 * @param enough whether the keys of the source's first place are enough
 * @param result completed when the keys are there; exceptionally with a {@link java.io.IOException}
 *     or {@link Unavailable} if they can't be had
 */
record PendingFetch(TenantName owner, Predicate<KeySet> enough, CompletableFuture<Fetched> result) {

    /**
     * The result of a fetch.
     *
     * @param number of the fetch, counted for each source
     */
    record Fetched(KeySet keys, Instant at, long number) {
        boolean isYoungerThan(Duration age, Instant now) {
            return now.isBefore(at.plus(age));
        }

        /** Whether the fetch began after so many others. */
        boolean isSince(long before) {
            return number > before;
        }

        /** Whether the fetch asked all places, and began after so many others. */
        boolean isWholeSince(long before) {
            return number > before && keys.isOfAllPlaces();
        }
    }

    PendingFetch(TenantName owner, Predicate<KeySet> enough) {
        this(owner, enough, new CompletableFuture<>());
    }

    static PendingFetch completed(TenantName owner, Fetched fetched) {
        return new PendingFetch(owner, _ -> true, CompletableFuture.completedFuture(fetched));
    }

    /** Waits for the result. */
    Fetched await() throws CompletionException {
        return result.join();
    }

    /**
     * Whether a fetch failed because its owner, or all owners together, had too many running
     * fetches.
     */
    static boolean isBusy(@Nullable Throwable failure) {
        return failure instanceof OutboundFailure outbound
                && outbound.kind() == OutboundFailure.Kind.BUSY;
    }
}
