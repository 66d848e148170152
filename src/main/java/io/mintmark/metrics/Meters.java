package io.mintmark.metrics;

import io.helidon.metrics.api.Counter;
import io.helidon.metrics.api.Gauge;
import io.helidon.metrics.api.Meter;
import io.helidon.metrics.api.MeterRegistry;
import io.helidon.metrics.api.MetricsConfig;
import io.helidon.metrics.api.MetricsFactory;
import io.helidon.metrics.api.Tag;
import io.helidon.metrics.api.Timer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The meters of a broker, found again without asking the registry, which would cost more than the
 * counting. Labels are given as names and values in turn; for one meter always the same names.
 *
 * <p>Helidon keeps the meters of a whole process in one place. Where a process has several brokers,
 * as in tests, they count together, and a gauge shows the one that was started last.
 */
public final class Meters implements AutoCloseable {
    private static final String PREFIX = "mintmark_";

    /** Up to twice the time that a request may wait for a provider. */
    private static final Duration[] BUCKETS =
            Stream.of(1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000)
                    .map(Duration::ofMillis)
                    .toArray(Duration[]::new);

    private record Labelled(String name, List<String> labels) {}

    private final MeterRegistry registry;
    private final Map<Labelled, Counter> counters = new ConcurrentHashMap<>();
    private final Map<Labelled, Timer> timers = new ConcurrentHashMap<>();
    private final Queue<Meter> gauges = new ConcurrentLinkedQueue<>();

    public Meters() {
        this.registry = MetricsFactory.getInstance().globalRegistry(withoutTheServersOwn());
    }

    /** The server's own count of requests would take the probes and the scrapes for load. */
    private static MetricsConfig withoutTheServersOwn() {
        return MetricsConfig.builder()
                .scoping(scoping ->
                        scoping.putScope(
                                Meter.Scope.VENDOR,
                                scope -> scope.name(Meter.Scope.VENDOR).enabled(false)))
                .build();
    }

    /** For the endpoint that shows them. */
    public MeterRegistry registry() {
        return registry;
    }

    void count(String name, String... labels) {
        counters.computeIfAbsent(
                        new Labelled(name, List.of(labels)),
                        it -> registry.getOrCreate(Counter.builder(PREFIX + name).tags(tags(it))))
                .increment();
    }

    void time(String name, Duration taken, String... labels) {
        timers.computeIfAbsent(new Labelled(name, List.of(labels)), this::timer).record(taken);
    }

    private Timer timer(Labelled labelled) {
        return registry.getOrCreate(
                Timer.builder(PREFIX + labelled.name())
                        .tags(tags(labelled))
                        .percentiles(new double[0])
                        .buckets(BUCKETS));
    }

    /** Shows a number that is asked for when somebody looks. */
    <N extends Number> void show(String name, Supplier<N> number, String... labels) {
        List<Tag> tags = tags(new Labelled(name, List.of(labels)));
        registry.gauge(PREFIX + name, tags).ifPresent(registry::remove);
        gauges.add(registry.getOrCreate(Gauge.builder(PREFIX + name, number).tags(tags)));
    }

    private static List<Tag> tags(Labelled labelled) {
        List<Tag> tags = new ArrayList<>();
        for (int i = 0; i < labelled.labels().size(); i += 2) {
            tags.add(Tag.create(labelled.labels().get(i), labelled.labels().get(i + 1)));
        }
        return tags;
    }

    /** Shows no more of what is about to be closed. */
    @Override
    public void close() {
        gauges.stream().filter(gauge -> !registry.isDeleted(gauge)).forEach(registry::remove);
    }
}
