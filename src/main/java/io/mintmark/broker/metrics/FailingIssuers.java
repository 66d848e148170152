package io.mintmark.broker.metrics;

import io.mintmark.base.metrics.Meters;
import io.mintmark.base.metrics.Metric;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.token.KeySource;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Shows for how long the keys of an issuer could not be fetched, with a tenant that needs them. A
 * ratio over the fetches of all tenants hides one of them.
 */
final class FailingIssuers {
    /** The maximum number of series. */
    static final int MOST = 100;

    /** The maximum of one tenant, which leaves room for the others. */
    static final int MOST_OF_A_TENANT = 5;

    /**
     * The time after the last failed fetch at which an issuer's failures are forgotten, because
     * nobody has needed its keys since.
     */
    static final Duration FORGOTTEN = Duration.ofMinutes(30);

    private final Meters meters;
    private final LongSupplier nanoTime;
    private final Map<KeySource, Failures> failing = new ConcurrentHashMap<>();

    /** Fetches that failed, without one that succeeded between them. */
    private record Failures(TenantName tenant, long first, long last) {}

    /**
     * @param nanoTime a clock that only goes forward, in nanoseconds
     */
    FailingIssuers(Meters meters, LongSupplier nanoTime) {
        this.meters = meters;
        this.nanoTime = nanoTime;
    }

    void succeeded(KeySource source) {
        if (failing.containsKey(source)) {
            hide(source);
        }
    }

    /**
     * A fetch failed.
     *
     * @param tenant in whose name it was made
     */
    synchronized void failed(TenantName tenant, KeySource source) {
        long now = nanoTime.getAsLong();
        failing.entrySet().stream()
                .filter(entry -> isForgotten(entry.getValue(), now))
                .map(Map.Entry::getKey)
                .toList()
                .forEach(this::hide);
        Failures known = failing.get(source);
        if (known != null) {
            failing.put(source, new Failures(known.tenant(), known.first(), now));
        } else if (hasRoom(tenant, source.issuer())) {
            failing.put(source, new Failures(tenant, now, now));
            meters.show(
                    Metric.ISSUER_FAILING_SECONDS, () -> seconds(source), labels(tenant, source));
        }
    }

    private boolean hasRoom(TenantName tenant, String issuer) {
        List<KeySource> ofTenant =
                failing.entrySet().stream()
                        .filter(entry -> entry.getValue().tenant().equals(tenant))
                        .map(Map.Entry::getKey)
                        .toList();
        return failing.size() < MOST
                && ofTenant.size() < MOST_OF_A_TENANT
                // a second source of the same issuer would have the same labels
                && ofTenant.stream().noneMatch(source -> source.issuer().equals(issuer));
    }

    private synchronized void hide(KeySource source) {
        Failures known = failing.remove(source);
        if (known != null) {
            meters.hide(Metric.ISSUER_FAILING_SECONDS, labels(known.tenant(), source));
        }
    }

    private static String[] labels(TenantName tenant, KeySource source) {
        return new String[] {tenant.value(), source.issuer()};
    }

    /**
     * The time from the first failure to the last, in seconds. A failure that wasn't repeated gives
     * 0, because it says little.
     */
    private double seconds(KeySource source) {
        Failures known = failing.get(source);
        return known == null || isForgotten(known, nanoTime.getAsLong())
                ? 0
                : TimeUnit.NANOSECONDS.toSeconds(known.last() - known.first());
    }

    private static boolean isForgotten(Failures failures, long now) {
        return now - failures.last() > FORGOTTEN.toNanos();
    }
}
