package io.mintmark.broker.metrics;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Rejections;
import io.mintmark.audit.log.LogFigures;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.audit.log.SeenHistory;
import io.mintmark.base.metrics.Meters;
import io.mintmark.base.metrics.Metric;
import io.mintmark.base.sql.Database;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Metrics of the broker that are computed when they are scraped: queues, the pool, ages. */
public final class Gauges {
    private static final double MILLIS_A_SECOND = 1_000;

    private final Meters meters;

    public Gauges(Meters meters) {
        this.meters = meters;
    }

    /** Shows how many requests wait for their rows, and how many rows of refused tokens wait. */
    public void show(AuditLog log, Rejections rejections) {
        meters.show(Metric.AUDIT_QUEUE, log::queued, "mints");
        meters.show(Metric.AUDIT_QUEUE, rejections::queued, "rejections");
    }

    /**
     * Counts how often the database lacked what it had confirmed to one of these writers, or what
     * the replica had seen.
     */
    public void show(List<PostgresEventStore> writers, SeenHistory history) {
        meters.follow(
                Metric.AUDIT_LOSSES,
                () -> writers.stream().mapToLong(PostgresEventStore::notReplicated).sum(),
                "promotion");
        meters.follow(
                Metric.AUDIT_LOSSES,
                () -> writers.stream().mapToLong(PostgresEventStore::removed).sum(),
                "removal");
        meters.follow(Metric.AUDIT_LOSSES, history::lost, "history");
    }

    /** Shows what the connections are doing, and how many threads wait for one. */
    public void show(Database database) {
        meters.show(Metric.DATABASE_CONNECTIONS, () -> database.numbers().active(), "active");
        meters.show(Metric.DATABASE_CONNECTIONS, () -> database.numbers().idle(), "idle");
        meters.show(Metric.DATABASE_WAITING, () -> database.numbers().waiting());
    }

    /** Shows how long ago the catalogue was last read. */
    public void show(MeasuredCatalogue catalogue) {
        meters.show(Metric.CATALOGUE_AGE_SECONDS, () -> seconds(catalogue.age()));
    }

    /** Shows the state of the log that all replicas share; NaN if it isn't known. */
    public void show(LogFigures log) {
        meters.show(
                Metric.CHECKPOINT_AGE_SECONDS,
                () -> number(log.checkpointAge().map(Gauges::seconds)));
        meters.show(Metric.UNRESOLVED_MINTS, () -> number(log.unresolvedMints()));
        meters.show(Metric.ENDINGS_OPEN, () -> number(log.endingsOpen()));
        meters.show(
                Metric.ENDINGS_OLDEST_SECONDS,
                () -> number(log.oldestEnding().map(Gauges::seconds)));
    }

    /**
     * Shows how old the newest checkpoint is that a quorum of witnesses cosigned; without any, for
     * how long this replica has run.
     */
    public void showUnwitnessed(LogFigures log, LongSupplier nanos) {
        long began = nanos.getAsLong();
        meters.show(
                Metric.AUDIT_UNWITNESSED_SECONDS,
                () ->
                        seconds(
                                log.unwitnessed()
                                        .orElseGet(() ->
                                                Duration.ofNanos(nanos.getAsLong() - began))));
    }

    private static double seconds(Duration time) {
        return time.toMillis() / MILLIS_A_SECOND;
    }

    private static double number(Optional<? extends Number> known) {
        return known.isPresent() ? known.get().doubleValue() : Double.NaN;
    }
}
