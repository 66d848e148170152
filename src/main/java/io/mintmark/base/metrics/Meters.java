package io.mintmark.base.metrics;

import io.helidon.metrics.api.Counter;
import io.helidon.metrics.api.FunctionalCounter;
import io.helidon.metrics.api.Gauge;
import io.helidon.metrics.api.Meter;
import io.helidon.metrics.api.MeterRegistry;
import io.helidon.metrics.api.MetricsConfig;
import io.helidon.metrics.api.MetricsFactory;
import io.helidon.metrics.api.Tag;
import io.helidon.metrics.api.Timer;
import io.helidon.service.registry.Services;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The meters of a process, found again without asking the registry, which would cost more than the
 * counting. Values of labels are given in the metric's order.
 *
 * <p>Helidon keeps the meters of a whole process in one place. Where a process has several brokers,
 * as in tests, they count together, and what is asked for shows the one that was started last.
 */
public final class Meters implements AutoCloseable {
    /** Up to twice the time that a request may wait for a provider. */
    private static final Duration[] BUCKETS =
            Stream.of(1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000)
                    .map(Duration::ofMillis)
                    .toArray(Duration[]::new);

    private record Labelled(Metric metric, List<String> values) {
        Labelled {
            if (values.size() != metric.labels().size()) {
                throw new IllegalArgumentException(metric + " has labels " + metric.labels());
            }
        }

        List<Tag> tags() {
            List<Tag> tags = new ArrayList<>();
            for (int i = 0; i < values.size(); i++) {
                tags.add(Tag.create(metric.labels().get(i), values.get(i)));
            }
            return tags;
        }
    }

    private final MeterRegistry registry;
    private final Map<Labelled, Counter> counters = new ConcurrentHashMap<>();
    private final Map<Labelled, Timer> timers = new ConcurrentHashMap<>();
    private final Queue<Meter> watched = new ConcurrentLinkedQueue<>();

    /**
     * Strong references to the counts, because the registry has weak ones: a count that is
     * collected would no longer rise.
     */
    private final Queue<LongSupplier> followed = new ConcurrentLinkedQueue<>();

    public Meters() {
        this.registry = Services.get(MetricsFactory.class).globalRegistry(withoutTheServersOwn());
    }

    /**
     * A configuration without the server's own count of requests, which would include probes and
     * scrapes.
     */
    private static MetricsConfig withoutTheServersOwn() {
        return MetricsConfig.builder()
                .scoping(scoping ->
                        scoping.putScope(
                                Meter.Scope.VENDOR,
                                scope -> scope.name(Meter.Scope.VENDOR).enabled(false)))
                .build();
    }

    /** The registry, for the endpoint that shows the metrics. */
    public MeterRegistry registry() {
        return registry;
    }

    public void count(Metric metric, String... labels) {
        counter(metric, labels).increment();
    }

    public void time(Metric metric, Duration taken, String... labels) {
        timer(metric, labels).record(taken);
    }

    /** Shows a 0 from now on, so that the first event is an increase and not a new series. */
    public void announce(Metric metric, String... labels) {
        switch (metric.kind()) {
            case COUNTER -> counter(metric, labels);
            case TIMER -> timer(metric, labels);
            case GAUGE ->
                    throw new IllegalArgumentException(
                            metric + " is a gauge, which is read and never announced");
        }
    }

    private Counter counter(Metric metric, String... labels) {
        return known(
                counters,
                new Labelled(metric, List.of(labels)),
                it ->
                        registry.getOrCreate(
                                Counter.builder(metric.registered())
                                        .description(metric.help())
                                        .tags(it.tags())));
    }

    private Timer timer(Metric metric, String... labels) {
        return known(
                timers,
                new Labelled(metric, List.of(labels)),
                it ->
                        registry.getOrCreate(
                                Timer.builder(metric.registered())
                                        .description(metric.help())
                                        .tags(it.tags())
                                        .percentiles(new double[0])
                                        .buckets(BUCKETS)));
    }

    /** {@code computeIfAbsent} alone often locks what is there, and all requests count here. */
    public static <K, M> M known(Map<K, M> meters, K which, Function<K, M> create) {
        M known = meters.get(which);
        return known == null ? meters.computeIfAbsent(which, create) : known;
    }

    /** Registers a metric that is computed when it is scraped. */
    public <N extends Number> void show(Metric metric, Supplier<N> number, String... labels) {
        List<Tag> tags = new Labelled(metric, List.of(labels)).tags();
        registry.gauge(metric.registered(), tags).ifPresent(registry::remove);
        watched.add(
                registry.getOrCreate(
                        Gauge.builder(metric.registered(), number)
                                .description(metric.help())
                                .tags(tags)));
    }

    /** Shows no more of a metric that was shown. */
    public void hide(Metric metric, String... labels) {
        List<Tag> tags = new Labelled(metric, List.of(labels)).tags();
        registry.gauge(metric.registered(), tags)
                .ifPresent(gauge -> {
                    watched.removeIf(meter -> meter.id().equals(gauge.id()));
                    registry.remove(gauge);
                });
    }

    /** Shows a count that is kept elsewhere. */
    public void follow(Metric metric, LongSupplier count, String... labels) {
        List<Tag> tags = new Labelled(metric, List.of(labels)).tags();
        var _ = registry.remove(metric.registered(), tags);
        followed.add(count);
        watched.add(
                registry.getOrCreate(
                        FunctionalCounter.builder(
                                        metric.registered(), count, LongSupplier::getAsLong)
                                .description(metric.help())
                                .tags(tags)));
    }

    /** Shows no more of what is about to be closed. */
    @Override
    public void close() {
        watched.stream().filter(meter -> !registry.isDeleted(meter)).forEach(registry::remove);
    }
}
