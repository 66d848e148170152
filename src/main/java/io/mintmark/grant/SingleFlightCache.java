package io.mintmark.grant;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Values that are read on demand and used again until they are too old, or known to have changed. A
 * value counts as old as the moment at which its reading <em>began</em>, so a change that is
 * announced while it is being read is never missed. One reader at a time for each key; those that
 * waited for a reading that failed share its failure.
 */
final class SingleFlightCache<K, V> {
    /** What nobody asks for so long isn't held any more. */
    private static final Duration IDLE = Duration.ofMinutes(10);

    /** Reads a value. {@code known} is the last one, which may still be the right one. */
    interface Reader<K, V> {
        V read(K key, @Nullable V known);
    }

    /** How much of the cache a value takes; at least one. */
    interface Weigher<V> {
        int weigh(V value);
    }

    private record Value<V>(V value, long asOf) {}

    private record Failure(RuntimeException cause, long began) {}

    private static final class Slot<V> {
        private final ReentrantLock reading = new ReentrantLock();
        private final AtomicLong changed = new AtomicLong(Long.MIN_VALUE);
        private final AtomicReference<@Nullable Value<V>> value = new AtomicReference<>();
        private volatile @Nullable Failure failure;
        private volatile int weight = 1;
    }

    private final Cache<K, Slot<V>> slots;
    private final long maxAge;
    private final LongSupplier nanos;
    private final Reader<K, V> reader;
    private final Weigher<V> weigher;
    private final AtomicLong allChanged = new AtomicLong(Long.MIN_VALUE);

    /**
     * @param maxAge after which a value is never used without asking again
     * @param atMost how many values are kept
     * @param nanos a clock that only goes forward, in nanoseconds
     */
    SingleFlightCache(Duration maxAge, long atMost, LongSupplier nanos, Reader<K, V> reader) {
        this(maxAge, atMost, _ -> 1, nanos, reader);
    }

    /**
     * @param maxAge after which a value is never used without asking again
     * @param atMost what all values that are kept may weigh
     * @param nanos a clock that only goes forward, in nanoseconds
     */
    SingleFlightCache(
            Duration maxAge,
            long atMost,
            Weigher<V> weigher,
            LongSupplier nanos,
            Reader<K, V> reader) {
        this.slots =
                Caffeine.newBuilder()
                        .maximumWeight(atMost)
                        .<K, Slot<V>>weigher((_, slot) -> slot.weight)
                        .expireAfterAccess(IDLE)
                        .executor(Runnable::run)
                        .build();
        this.weigher = weigher;
        this.maxAge = maxAge.toNanos();
        this.nanos = nanos;
        this.reader = reader;
    }

    /** The value, read anew if need be. Throws what the reader throws. */
    V get(K key) {
        Slot<V> slot = slots.get(key, _ -> new Slot<>());
        Value<V> value = slot.value.get();
        return value != null && isFresh(slot, value) ? value.value() : read(key, slot);
    }

    private V read(K key, Slot<V> slot) {
        long arrived = nanos.getAsLong();
        slot.reading.lock();
        try {
            Value<V> known = slot.value.get();
            if (known != null && isFresh(slot, known)) {
                return known.value();
            }
            Failure failure = slot.failure;
            if (failure != null && failure.began() >= arrived) {
                throw failure.cause();
            }
            return read(key, slot, known);
        } finally {
            slot.reading.unlock();
        }
    }

    private V read(K key, Slot<V> slot, @Nullable Value<V> known) {
        long began = nanos.getAsLong();
        try {
            V value = reader.read(key, known == null ? null : known.value());
            slot.value.set(new Value<>(value, began));
            slot.weight = weigher.weigh(value);
            slots.asMap().replace(key, slot, slot);
            slot.failure = null;
            return value;
        } catch (RuntimeException e) {
            slot.failure = new Failure(e, began);
            throw e;
        }
    }

    private boolean isFresh(Slot<V> slot, Value<V> value) {
        return isUnchanged(slot, value) && nanos.getAsLong() - value.asOf() <= maxAge;
    }

    private boolean isUnchanged(Slot<V> slot, Value<V> value) {
        return value.asOf() > slot.changed.get() && value.asOf() > allChanged.get();
    }

    /** The values that nothing is known against but perhaps their age. */
    Held<K, V> held() {
        long asOf = nanos.getAsLong();
        Map<K, Value<V>> values = new HashMap<>();
        slots.asMap()
                .forEach((key, slot) -> {
                    Value<V> value = slot.value.get();
                    if (value != null && isUnchanged(slot, value)) {
                        values.put(key, value);
                    }
                });
        return new Held<>(this, values, asOf);
    }

    /** What was held at a moment: whoever asks elsewhere about these values begins with this. */
    static final class Held<K, V> {
        private final SingleFlightCache<K, V> cache;
        private final Map<K, Value<V>> values;
        private final long asOf;

        private Held(SingleFlightCache<K, V> cache, Map<K, Value<V>> values, long asOf) {
            this.cache = cache;
            this.values = values;
            this.asOf = asOf;
        }

        /** The values by their keys. */
        Map<K, V> values() {
            Map<K, V> plain = new HashMap<>();
            values.forEach((key, value) -> plain.put(key, value.value()));
            return plain;
        }

        /** Some are to be read again; the others are as good as read at that moment. */
        void changed(Predicate<K> isChanged) {
            values.forEach((key, value) -> {
                if (isChanged.test(key)) {
                    cache.changed(key);
                } else {
                    cache.confirm(key, value, asOf);
                }
            });
        }
    }

    private void confirm(K key, Value<V> value, long asOf) {
        Slot<V> slot = slots.asMap().get(key);
        if (slot != null && isUnchanged(slot, value)) {
            slot.value.compareAndSet(value, new Value<>(value.value(), asOf));
        }
    }

    /** The value is to be read again before it is used again. */
    void changed(K key) {
        Slot<V> slot = slots.asMap().get(key);
        if (slot != null) {
            slot.changed.accumulateAndGet(nanos.getAsLong(), Math::max);
        }
    }

    /** Every value is to be read again before it is used again. */
    void allChanged() {
        allChanged.accumulateAndGet(nanos.getAsLong(), Math::max);
    }
}
