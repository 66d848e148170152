package io.mintmark.token;

import io.mintmark.outbound.OutboundFailure;
import io.mintmark.tenant.TenantName;
import io.mintmark.verdict.Unavailable;

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
 * @param landing completed when the keys are there; exceptionally with a {@link
 *     java.io.IOException} or {@link Unavailable} if they can't be had
 */
record Flight(TenantName owner, Predicate<KeySet> enough, CompletableFuture<Fetched> landing) {

    /**
     * What a fetch brought.
     *
     * @param number of the fetch, counted for each source
     */
    record Fetched(KeySet keys, Instant at, long number) {
        boolean isYoungerThan(Duration age, Instant now) {
            return now.isBefore(at.plus(age));
        }

        /** Whether the fetch asked all places, and began after so many others. */
        boolean isWholeSince(long before) {
            return number > before && keys.isOfAllPlaces();
        }
    }

    Flight(TenantName owner, Predicate<KeySet> enough) {
        this(owner, enough, new CompletableFuture<>());
    }

    static Flight landed(TenantName owner, Fetched fetched) {
        return new Flight(owner, _ -> true, CompletableFuture.completedFuture(fetched));
    }

    /** What it brings, when it has landed. */
    Fetched await() throws CompletionException {
        return landing.join();
    }

    /** Whether it failed because its owner, or all owners, had too much in flight. */
    static boolean isBusy(@Nullable Throwable failure) {
        return failure instanceof OutboundFailure outbound
                && outbound.kind() == OutboundFailure.Kind.BUSY;
    }
}
