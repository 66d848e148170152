package io.mintmark.broker.grant;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

/** A key's place in a {@link SingleFlightCache}: its value, its one reader, and its weight. */
final class CacheSlot<V> {
    /** A value that was current when its reading began. */
    record Value<V>(V value, long asOf) {}

    /** A failed reading, which the callers that waited for it share. */
    record Failure(RuntimeException cause, long began) {}

    final ReentrantLock reading = new ReentrantLock();
    final AtomicLong changed = new AtomicLong(Long.MIN_VALUE);
    final AtomicReference<@Nullable Value<V>> value = new AtomicReference<>();
    volatile @Nullable Failure failure;

    /** The weight that counts for the owner of the key; 0 once the cache has dropped the slot. */
    private long weight;

    private boolean dropped;

    /** Sets the weight, and returns the difference. */
    synchronized long reweigh(long to) {
        long further = dropped ? 0 : to - weight;
        weight += further;
        return further;
    }

    /** Stops counting the value, and returns its weight. */
    synchronized long drop() {
        dropped = true;
        return weight;
    }

    synchronized int weight() {
        return Math.clamp(weight, 1, Integer.MAX_VALUE);
    }
}
