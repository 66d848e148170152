package io.mintmark.broker.grant;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;

import io.mintmark.base.limit.WeightByOwner;
import io.mintmark.broker.grant.CacheSlot.Failure;
import io.mintmark.broker.grant.CacheSlot.Value;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Values that are read on demand and reused until they are too old, or known to have changed. A
 * value's age counts from the moment at which its reading <em>began</em>, so a change that is
 * announced during the read is never missed. Each key has one reader at a time; callers that waited
 * for a failed read share its failure.
 */
public final class SingleFlightCache<K, V> {
    /** Values that were not used for so long are dropped. */
    private static final Duration IDLE = Duration.ofMinutes(10);

    /** Reads a value. {@code known} is the last one, which may still be the right one. */
    public interface Reader<K, V> {
        V read(K key, @Nullable V known);
    }

    /** Weighs a value and its key, in the unit of the cache's maximum weight. */
    public interface Weigher<K, V> {
        long weigh(K key, V value);
    }

    private final Cache<K, CacheSlot<V>> slots;
    private final long maxAge;
    private final LongSupplier nanos;
    private final Reader<K, V> reader;
    private final Weigher<K, V> weigher;
    private final WeightByOwner<K> shares;

    /**
     * @param maxAge after which a value is never used without asking again
     * @param atMost how many values are kept
     * @param nanos a clock that only goes forward, in nanoseconds
     */
    public SingleFlightCache(
            Duration maxAge, long atMost, LongSupplier nanos, Reader<K, V> reader) {
        this(maxAge, atMost, (_, _) -> 1, nanos, reader);
    }

    /** Creates a cache that bounds the total weight of keys and values. */
    public SingleFlightCache(
            Duration maxAge,
            long atMost,
            Weigher<K, V> weigher,
            LongSupplier nanos,
            Reader<K, V> reader) {
        this(maxAge, atMost, weigher, WeightByOwner.unlimited(), nanos, reader);
    }

    /**
     * @param maxAge after which a value is never used without asking again
     * @param atMost the weight of all keys and values that are kept
     * @param shares of the owners of keys
     * @param nanos a clock that only goes forward, in nanoseconds
     */
    SingleFlightCache(
            Duration maxAge,
            long atMost,
            Weigher<K, V> weigher,
            WeightByOwner<K> shares,
            LongSupplier nanos,
            Reader<K, V> reader) {
        this.slots =
                Caffeine.newBuilder()
                        .maximumWeight(atMost)
                        .<K, CacheSlot<V>>weigher((_, slot) -> slot.weight())
                        .expireAfterAccess(IDLE)
                        .executor(Runnable::run)
                        .removalListener(this::dropped)
                        .build();
        this.weigher = weigher;
        this.shares = shares;
        this.maxAge = maxAge.toNanos();
        this.nanos = nanos;
        this.reader = reader;
    }

    private void dropped(@Nullable K key, @Nullable CacheSlot<V> slot, RemovalCause cause) {
        if (key != null && slot != null) {
            shares.add(key, -slot.drop());
        }
    }

    /** The value, if it may be used as it is. Reads nothing, and waits for nobody. */
    public Optional<V> fresh(K key) {
        return Optional.ofNullable(slots.getIfPresent(key))
                .flatMap(slot ->
                        Optional.ofNullable(slot.value.get()).filter(value -> isFresh(slot, value)))
                .map(Value::value);
    }

    /** The value, read again if need be. Throws what the reader throws. */
    public V get(K key) {
        return get(key, _ -> true);
    }

    /**
     * The value, read again if it is known to be outdated.
     *
     * @param isCurrent whether a value may be used; asked only about values that were read before
     */
    public V get(K key, Predicate<V> isCurrent) {
        CacheSlot<V> slot = slots.get(key, _ -> new CacheSlot<>());
        Value<V> value = slot.value.get();
        return value != null && isFresh(slot, value) && isCurrent.test(value.value())
                ? value.value()
                : read(key, slot, isCurrent);
    }

    /** The weight of the value; 0 if none is kept. Reads nothing. */
    long weight(K key) {
        CacheSlot<V> slot = slots.asMap().get(key);
        Value<V> value = slot == null ? null : slot.value.get();
        return value == null ? 0 : weigher.weigh(key, value.value());
    }

    private V read(K key, CacheSlot<V> slot, Predicate<V> isCurrent) {
        long arrived = nanos.getAsLong();
        slot.reading.lock();
        try {
            Value<V> known = slot.value.get();
            if (known != null && isFresh(slot, known) && isCurrent.test(known.value())) {
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

    private V read(K key, CacheSlot<V> slot, @Nullable Value<V> known) {
        long began = nanos.getAsLong();
        try {
            V value = reader.read(key, known == null ? null : known.value());
            slot.value.set(new Value<>(value, began));
            slot.failure = null;
            weigh(key, slot, value);
            return value;
        } catch (RuntimeException e) {
            slot.failure = new Failure(e, began);
            if (known == null) {
                // only callers that wait for this read still hold the slot
                slots.asMap().remove(key, slot);
            }
            throw e;
        }
    }

    /**
     * Updates the weight of a value, which may have been dropped meanwhile, or is dropped if its
     * owner has too much.
     */
    private void weigh(K key, CacheSlot<V> slot, V value) {
        shares.add(key, slot.reweigh(weigher.weigh(key, value)));
        slots.asMap().replace(key, slot, slot);
        long most = shares.most(key);
        if (slot.weight() > most) {
            slots.asMap().remove(key, slot);
        } else if (shares.weight(key) > most) {
            dropOthers(key, most - most / 4);
        }
    }

    /** Drops values of the key's owner, those first that the cache would drop first. */
    private void dropOthers(K key, long downTo) {
        var coldest = slots.policy().eviction().orElseThrow().coldest(Integer.MAX_VALUE);
        for (K other : coldest.keySet()) {
            if (shares.weight(key) <= downTo) {
                return;
            }
            if (!other.equals(key) && shares.haveSameOwner(key, other)) {
                slots.invalidate(other);
            }
        }
    }

    private boolean isFresh(CacheSlot<V> slot, Value<V> value) {
        return isUnchanged(slot, value) && nanos.getAsLong() - value.asOf() <= maxAge;
    }

    private boolean isUnchanged(CacheSlot<V> slot, Value<V> value) {
        return value.asOf() > slot.changed.get();
    }

    /** The values that were not invalidated. Their age is not checked. */
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

    /** The values at a moment, from which an external check starts. */
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

        /**
         * Marks the values whose keys have changed, to be read again. The others are as good as
         * just read.
         */
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
        CacheSlot<V> slot = slots.asMap().get(key);
        if (slot != null && isUnchanged(slot, value)) {
            slot.value.compareAndSet(value, new Value<>(value.value(), asOf));
        }
    }

    /** Reads the value again, on this thread; until that is done, others use the last one. */
    void renew(K key) {
        CacheSlot<V> slot = slots.get(key, _ -> new CacheSlot<>());
        slot.reading.lock();
        try {
            var _ = read(key, slot, slot.value.get());
        } finally {
            slot.reading.unlock();
        }
    }

    /** Notes that the value may have changed, so that it is read again before it is used. */
    void changed(K key) {
        CacheSlot<V> slot = slots.asMap().get(key);
        if (slot != null) {
            slot.changed.accumulateAndGet(nanos.getAsLong(), Math::max);
        }
    }
}
