package io.mintmark.base.limit;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** Counts what the values of each owner weigh, so that no owner takes the place of the others. */
public final class WeightByOwner<K> {
    private final Function<K, ?> owner;
    private final ToLongFunction<K> most;
    private final Map<Object, Long> weights = new ConcurrentHashMap<>();

    /**
     * Weights of the owners of keys.
     *
     * @param owner the owner of a key's value
     * @param most the weight that all values of a key's owner may have together
     */
    public WeightByOwner(Function<K, ?> owner, ToLongFunction<K> most) {
        this.owner = owner;
        this.most = most;
    }

    /** One owner for all keys, without a limit. */
    public static <K> WeightByOwner<K> unlimited() {
        return new WeightByOwner<>(_ -> WeightByOwner.class, _ -> Long.MAX_VALUE);
    }

    /** Adds to what the values of the key's owner weigh; a negative weight subtracts. */
    public void add(K key, long weight) {
        Object of = owner.apply(key);
        if (weights.merge(of, weight, Long::sum) == 0) {
            weights.remove(of, 0L);
        }
    }

    public boolean haveSameOwner(K one, K other) {
        return owner.apply(one).equals(owner.apply(other));
    }

    /** The weight of all values of the key's owner. */
    public long weight(K key) {
        return weights.getOrDefault(owner.apply(key), 0L);
    }

    /** The maximum of that weight. */
    public long most(K key) {
        return most.applyAsLong(key);
    }
}
