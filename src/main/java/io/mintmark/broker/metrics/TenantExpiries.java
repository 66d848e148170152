package io.mintmark.broker.metrics;

import io.mintmark.base.metrics.Meters;
import io.mintmark.base.metrics.Metric;

import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Shows when certificates of tenants expire: of those that expire first, so that few do. */
public final class TenantExpiries {
    /** The maximum number of expiries that are shown. */
    private static final int MOST = 100;

    private final Meters meters;
    private final Map<List<String>, Instant> shown = new ConcurrentHashMap<>();

    /**
     * A certificate in the row of an access provider.
     *
     * @param setting of the row
     */
    public record Expiry(String tenant, String provider, String setting, Instant notAfter) {
        List<String> labels() {
            return List.of(setting, tenant, provider);
        }
    }

    public TenantExpiries(Meters meters) {
        this.meters = meters;
    }

    /** Shows these expiries, and no longer the previous ones. */
    public synchronized void show(List<Expiry> all) {
        Map<List<String>, Instant> first = new HashMap<>();
        all.stream()
                .sorted(Comparator.comparing(Expiry::notAfter))
                .limit(MOST)
                .forEach(one -> first.put(one.labels(), one.notAfter()));
        shown.keySet().stream()
                .filter(labels -> !first.containsKey(labels))
                .toList()
                .forEach(this::hide);
        first.forEach((labels, notAfter) -> {
            if (shown.put(labels, notAfter) == null) {
                meters.show(
                        Metric.NOT_AFTER_SECONDS,
                        () -> seconds(labels),
                        labels.toArray(String[]::new));
            }
        });
    }

    private double seconds(List<String> labels) {
        Instant notAfter = shown.get(labels);
        return notAfter == null ? Double.NaN : notAfter.getEpochSecond();
    }

    private void hide(List<String> labels) {
        shown.remove(labels);
        meters.hide(Metric.NOT_AFTER_SECONDS, labels.toArray(String[]::new));
    }
}
