package io.mintmark.broker.revocation;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.pkcs11.TokenUnavailable;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.grant.SingleFlightCache;
import io.mintmark.broker.revocation.RevokedCredentials.Extent;
import io.mintmark.broker.revocation.RevokedCredentials.Revoked;
import io.mintmark.provider.RevocationFormat;
import io.mintmark.provider.RevocationFormat.Written;
import io.mintmark.provider.UnusableSettingsException;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * The lists that servers fetch, each made once a minute and whenever something was revoked since,
 * one at a time. Whatever strangers ask for, the database is asked for lists that exist, and once a
 * minute which those are.
 */
public final class RevocationLists {
    /** The time for which a list is used. */
    public static final Duration KEPT = Duration.ofMinutes(1);

    /**
     * The maximum size of all kept lists together, in bytes. A list of a tenant's 20,000
     * certificates takes a tenth of it.
     */
    private static final long MOST_BYTES = 16 << 20;

    /** Requests that wait for lists to be made. */
    private static final int MOST_WAITING = 32;

    private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);
    private static final Duration SOON = Duration.ofSeconds(1);
    private static final int TAG_BYTES = 16;

    private final RevokedCredentials ended;
    private final Map<String, RevocationFormat> formats;
    private final InstantSource clock;
    private final LongSupplier nanos;
    private final Semaphore waiting = new Semaphore(MOST_WAITING);
    private final ReentrantLock making = new ReentrantLock();
    private final SingleFlightCache<Set<String>, NavigableSet<ListIssuer>> authorities;
    private final SingleFlightCache<ListIssuer, Kept> lists;

    /** A list, the fact that there is none, or the reason why it can't be made. */
    private sealed interface Kept {
        default long bytes() {
            return 0;
        }

        record Absent() implements Kept {}

        record Unusable(RuntimeException why) implements Kept {}

        record Made(
                Form content,
                Optional<Form> text,
                Instant at,
                long began,
                Extent extent,
                Completeness completeness)
                implements Kept {
            @Override
            public long bytes() {
                return (long) content.bytes().length
                        + text.map(form -> form.bytes().length).orElse(0);
            }
        }
    }

    /**
     * A list in one form.
     *
     * @param bytes as servers read them
     * @param tag differs wherever the bytes do
     */
    @SuppressWarnings("ArrayRecordComponent") // as long as the list
    public record Form(byte[] bytes, String tag) {
        private static Form of(byte[] bytes) {
            byte[] hash = Secret.sha256(bytes);
            return new Form(bytes, HexFormat.of().formatHex(hash, 0, TAG_BYTES));
        }
    }

    /**
     * A list.
     *
     * @param text in PEM, for types whose servers read that
     * @param made when the broker made it
     * @param usable how long it may be used yet, at most {@link #KEPT}
     */
    public record RevocationList(
            Form content, Optional<Form> text, Instant made, Duration usable) {}

    /**
     * @param formats by type of access provider
     * @param nanos a clock that only goes forward, in nanoseconds
     */
    public RevocationLists(
            RevokedCredentials ended,
            Map<String, RevocationFormat> formats,
            InstantSource clock,
            LongSupplier nanos) {
        this.ended = ended;
        this.formats = Map.copyOf(formats);
        this.clock = clock;
        this.nanos = nanos;
        this.authorities =
                new SingleFlightCache<>(KEPT, 1, nanos, (types, _) -> ended.authorities(types));
        this.lists =
                new SingleFlightCache<>(
                        KEPT,
                        MOST_BYTES,
                        (_, kept) -> kept.bytes(),
                        nanos,
                        (authority, _) -> makeAlone(authority));
    }

    /**
     * The list of all access providers of a type and a tenant; empty if there is none.
     *
     * @throws Unavailable if it can't be made
     */
    public Optional<RevocationList> ofTenant(String type, String tenant) {
        ListIssuer first = known().ceiling(new ListIssuer(type, tenant, ""));
        return Optional.ofNullable(first)
                .filter(one -> one.type().equals(type) && one.tenant().equals(tenant))
                .flatMap(this::list);
    }

    /**
     * The list of an access provider; empty if there is none.
     *
     * @throws Unavailable if it can't be made
     */
    public Optional<RevocationList> of(ListIssuer authority) {
        return known().contains(authority) ? list(authority) : Optional.empty();
    }

    private NavigableSet<ListIssuer> known() {
        return get(authorities, formats.keySet(), _ -> true);
    }

    private Optional<RevocationList> list(ListIssuer authority) {
        return switch (get(lists, authority, kept -> isCurrent(authority, kept))) {
            case Kept.Absent _ -> Optional.empty();
            case Kept.Unusable(RuntimeException why) ->
                    throw new Unavailable(
                            Unavailable.Part.TENANT,
                            "The revocation list of access provider '%s' can't be made now; the broker's log has the reason."
                                    .formatted(authority.provider()),
                            KEPT,
                            why);
            case Kept.Made(Form content, Optional<Form> text, Instant at, long began, _, _) -> {
                Duration usable = KEPT.minusNanos(nanos.getAsLong() - began);
                yield Optional.of(
                        new RevocationList(
                                content, text, at, usable.isNegative() ? Duration.ZERO : usable));
            }
        };
    }

    /** A server that had a newer list from another replica must not get an older one here. */
    private boolean isCurrent(ListIssuer authority, Kept kept) {
        return !(kept instanceof Kept.Made made)
                || made.completeness().now(() -> ended.isComplete(authority, made.extent()));
    }

    /** Strangers' requests may wait for lists, but not so many that others find no place. */
    private <K, V> V get(SingleFlightCache<K, V> cache, K key, Predicate<V> isCurrent) {
        Optional<V> fresh = cache.fresh(key).filter(isCurrent);
        if (fresh.isPresent()) {
            return fresh.get();
        }
        if (!waiting.tryAcquire()) {
            throw busy();
        }
        try {
            return cache.get(key, isCurrent);
        } finally {
            waiting.release();
        }
    }

    /**
     * Makes a list while no other list is being made, because this takes many times the list's size
     * in memory.
     */
    private Kept makeAlone(ListIssuer authority) {
        boolean alone = false;
        try {
            alone = making.tryLock(LONGEST_WAIT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!alone) {
            throw busy();
        }
        try {
            return make(authority);
        } finally {
            making.unlock();
        }
    }

    /**
     * Makes the list. A failure is kept too; otherwise each request would ask the database again.
     */
    private Kept make(ListIssuer authority) {
        long began = nanos.getAsLong();
        Optional<Revoked> found = ended.of(authority);
        if (found.isEmpty()) {
            return new Kept.Absent();
        }
        try {
            return made(authority, found.get(), began);
        } catch (UnusableSettingsException | TokenUnavailable e) {
            return new Kept.Unusable(e);
        }
    }

    private Kept made(ListIssuer authority, Revoked found, long began) {
        Instant now = clock.instant();
        Written written =
                Objects.requireNonNull(formats.get(authority.type()))
                        .list(
                                new TenantName(authority.tenant()),
                                found.settings(),
                                found.mints(),
                                now);
        return new Kept.Made(
                Form.of(written.content()),
                written.text().map(Form::of),
                now,
                began,
                found.extent(),
                new Completeness(nanos, began));
    }

    private static Unavailable busy() {
        return new Unavailable("Revocation lists are being made; try again in a second.", SOON);
    }
}
