package io.mintmark.broker.revocation;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.grant.SingleFlightCache;
import io.mintmark.broker.revocation.EndedCredentials.Ended;
import io.mintmark.provider.RevocationFormat;
import io.mintmark.provider.UnusableSettingsException;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The lists that servers fetch, each made at most once a minute. Whatever strangers ask for, the
 * database is asked for lists that exist, and once a minute which those are.
 */
public final class RevocationLists {
    /** How long a list is used. */
    public static final Duration KEPT = Duration.ofMinutes(1);

    private static final long MOST_BYTES = 16 << 20;

    private final EndedCredentials ended;
    private final Map<String, RevocationFormat> formats;
    private final InstantSource clock;
    private final LongSupplier nanos;
    private final SingleFlightCache<Set<String>, NavigableSet<ListIssuer>> authorities;
    private final SingleFlightCache<ListIssuer, Kept> lists;

    private record Kept(Optional<byte[]> content, long began) {
        long bytes() {
            return content.map(bytes -> bytes.length).orElse(0);
        }
    }

    /**
     * A list.
     *
     * @param content as servers read it
     * @param usable how long it may be used yet, at most {@link #KEPT}
     */
    @SuppressWarnings("ArrayRecordComponent") // as long as the list
    public record RevocationList(byte[] content, Duration usable) {}

    /**
     * @param formats by type of access provider
     * @param nanos a clock that only goes forward, in nanoseconds
     */
    public RevocationLists(
            EndedCredentials ended,
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
                        (authority, _) -> make(authority));
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
        return authorities.get(formats.keySet());
    }

    private Optional<RevocationList> list(ListIssuer authority) {
        Kept kept = lists.get(authority);
        Duration usable = KEPT.minusNanos(nanos.getAsLong() - kept.began());
        return kept.content()
                .map(content ->
                        new RevocationList(content, usable.isNegative() ? Duration.ZERO : usable));
    }

    private Kept make(ListIssuer authority) {
        long began = nanos.getAsLong();
        return new Kept(ended.of(authority).map(found -> written(authority, found)), began);
    }

    private byte[] written(ListIssuer authority, Ended found) {
        try {
            return Objects.requireNonNull(formats.get(authority.type()))
                    .list(
                            new TenantName(authority.tenant()),
                            found.settings(),
                            found.mints(),
                            clock.instant());
        } catch (UnusableSettingsException e) {
            throw new Unavailable(
                    Unavailable.Part.TENANT,
                    "The revocation list of access provider '%s' can't be made now; the broker's log says why."
                            .formatted(authority.provider()),
                    KEPT,
                    e);
        }
    }
}
