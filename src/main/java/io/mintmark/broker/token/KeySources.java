package io.mintmark.broker.token;

import io.mintmark.base.limit.WeightByOwner;
import io.mintmark.base.tenant.TenantName;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The sources whose keys are kept, within a number of bytes for all and one for each tenant. Those
 * that were used longest ago go first: the tenant's, where its share is taken, or any. A source
 * that several tenants use is in no tenant's share.
 *
 * <p>Every request of every tenant looks here, so a lookup of what is there takes no lock: on a
 * busy machine the operating system stops a thread that holds one, and then all tenants wait for
 * it.
 *
 * <p>The keys of this map are what platform admins wrote, never what a token says.
 */
final class KeySources {
    private static final Logger LOG = LoggerFactory.getLogger(KeySources.class);

    /** Maps and lists around a source. */
    private static final long OBJECTS = 1024;

    private final Map<KeySource, Held> bySource = new ConcurrentHashMap<>();
    private final WeightByOwner<Optional<TenantName>> bytesByUser;
    private final Function<KeySource, SourceKeys> create;
    private final long most;
    private long bytes;

    private static final class Held {
        private final SourceKeys keys;
        private volatile Optional<TenantName> user;
        private volatile long usedAt;
        private long bytes;

        Held(SourceKeys keys, TenantName user) {
            this.keys = keys;
            this.user = Optional.of(user);
        }

        boolean isCountedFor(TenantName tenant) {
            return user.isEmpty() || user.get().equals(tenant);
        }

        SourceKeys use() {
            usedAt = System.nanoTime();
            return keys;
        }
    }

    /** The time of a source's last use. Requests change the time while sources are sorted by it. */
    private record Used(Held held, long at) {}

    /**
     * @param most bytes that are kept
     * @param mostOfATenant bytes that are kept of sources which only this tenant uses
     */
    KeySources(long most, long mostOfATenant, Function<KeySource, SourceKeys> create) {
        this.most = most;
        this.bytesByUser =
                new WeightByOwner<>(
                        user -> user, user -> user.isEmpty() ? Long.MAX_VALUE : mostOfATenant);
        this.create = create;
    }

    /** The keys of a source, for a tenant. */
    SourceKeys of(KeySource source, TenantName tenant) {
        Held held = bySource.get(source);
        return (held != null && held.isCountedFor(tenant) ? held : entered(source, tenant)).use();
    }

    private synchronized Held entered(KeySource source, TenantName tenant) {
        Held held = bySource.get(source);
        if (held == null) {
            held = new Held(create.apply(source), tenant);
            weigh(held);
            bySource.put(source, held);
        } else if (!held.isCountedFor(tenant)) {
            count(held, -held.bytes);
            held.user = Optional.empty();
            count(held, held.bytes);
        }
        return held;
    }

    /** Notes that the size of these keys has changed. */
    synchronized void weigh(SourceKeys keys) {
        Held held = bySource.get(keys.source());
        if (held != null && held.keys == keys) {
            weigh(held);
        }
    }

    private void weigh(Held held) {
        long now = OBJECTS + held.keys.bytes();
        count(held, now - held.bytes);
        held.bytes = now;
        if (held.user.isPresent() && isOver(held.user)) {
            LOG.debug(
                    "Key sets of tenant '{}' were removed from the cache, because the tenant's share of the cache is used up; the broker fetches them again when a token needs them",
                    held.user.get());
            drop(held.user);
        }
        if (bytes > most) {
            drop(Optional.empty());
        }
    }

    /**
     * Drops sources until the limit is kept, but none that requests may wait for.
     *
     * @param of whose; empty for any
     */
    private void drop(Optional<TenantName> of) {
        List<Held> eldestFirst =
                bySource.values().stream()
                        .filter(held -> of.isEmpty() || held.user.equals(of))
                        .map(held -> new Used(held, held.usedAt))
                        .sorted(Comparator.comparingLong(Used::at))
                        .map(Used::held)
                        .toList();
        for (Held held : eldestFirst) {
            if (!isOver(of)) {
                return;
            }
            if (held.keys.isIdle()) {
                bySource.remove(held.keys.source());
                count(held, -held.bytes);
            }
        }
    }

    private boolean isOver(Optional<TenantName> of) {
        return of.isPresent() ? bytesByUser.weight(of) > bytesByUser.most(of) : bytes > most;
    }

    private void count(Held held, long change) {
        bytes += change;
        bytesByUser.add(held.user, change);
    }

    /** The size of everything that is kept now, in bytes. */
    synchronized long bytes() {
        return bytes;
    }
}
