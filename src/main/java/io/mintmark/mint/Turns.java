package io.mintmark.mint;

import io.mintmark.mint.MintResult.Failed;
import io.mintmark.tenant.ProviderName;
import io.mintmark.tenant.TenantName;
import io.mintmark.verdict.MintRefusal.Reason;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Bounds what a tenant has under way at providers, so that one tenant's slow provider can't use up
 * the connections, threads and requests that all share. Who comes first is served first.
 *
 * <p>A provider gets half of what its tenant has, so that a slow one leaves the others room. A call
 * waits for its turn for half of the time that it has, because the other half is for the call.
 * Tenants that have nothing under way take up no memory.
 */
final class Turns {
    /** Calls of one tenant at a time. */
    static final int OF_A_TENANT = 64;

    /** Calls to one access provider at a time. */
    static final int OF_A_PROVIDER = 32;

    /**
     * Calls of one tenant that are under way or wait. Each belongs to a request, and of those 512
     * are worked on at a time ({@code SERVER_MAX_REQUESTS}).
     */
    static final int PRESENT = 256;

    private final Map<TenantName, Line> lines = new ConcurrentHashMap<>();
    private final InstantSource clock;

    Turns(InstantSource clock) {
        this.clock = clock;
    }

    /** Makes a call when it's its turn, or tells that its turn didn't come. */
    MintResult take(MintOrder order, Supplier<MintResult> call) {
        Line line =
                lines.compute(
                        order.tenant(),
                        (_, there) -> there == null ? new Line().joined() : there.joined());
        try {
            return take(line, order, call);
        } finally {
            lines.computeIfPresent(order.tenant(), (_, there) -> there.left() ? null : there);
        }
    }

    /** How many calls of a tenant are under way or wait. */
    int present(TenantName tenant) {
        Line line = lines.get(tenant);
        return line == null ? 0 : PRESENT - line.room.availablePermits();
    }

    /** How many tenants have something under way. */
    int tenants() {
        return lines.size();
    }

    private MintResult take(Line line, MintOrder order, Supplier<MintResult> call) {
        Instant now = clock.instant();
        Instant until = now.plus(Duration.between(now, order.deadline()).dividedBy(2));
        ProviderName provider = order.access().name();
        return holding(
                line.room,
                now,
                "%d calls of the tenant are under way or wait".formatted(PRESENT),
                () ->
                        holding(
                                line.ofProvider(provider),
                                until,
                                "%d calls to access provider '%s' are under way"
                                        .formatted(OF_A_PROVIDER, provider),
                                () ->
                                        holding(
                                                line.turns,
                                                until,
                                                "%d calls of the tenant are under way"
                                                        .formatted(OF_A_TENANT),
                                                call)));
    }

    private MintResult holding(
            Semaphore places, Instant until, String full, Supplier<MintResult> then) {
        try {
            long patience = Duration.between(clock.instant(), until).toNanos();
            if (!places.tryAcquire(patience, TimeUnit.NANOSECONDS)) {
                return new Failed(
                        Reason.PROVIDER_THROTTLED,
                        full + ", which is as many as there may be; nothing was sent");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Failed(Reason.PROVIDER_TIMEOUT, "nobody waits any more; nothing was sent");
        }
        try {
            return then.get();
        } finally {
            places.release();
        }
    }

    /** What one tenant has under way. */
    private static final class Line {
        private final Semaphore room = new Semaphore(PRESENT);
        private final Semaphore turns = new Semaphore(OF_A_TENANT, true);
        private final Map<ProviderName, Semaphore> providers = new ConcurrentHashMap<>();

        /** Changed only while the map holds the tenant's entry. */
        private int members;

        Line joined() {
            members++;
            return this;
        }

        /** Whether that was the last one. */
        boolean left() {
            members--;
            return members == 0;
        }

        Semaphore ofProvider(ProviderName provider) {
            return providers.computeIfAbsent(provider, _ -> new Semaphore(OF_A_PROVIDER, true));
        }
    }
}
