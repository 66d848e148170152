package io.mintmark.metrics;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Rejections;
import io.mintmark.file.RereadFile;
import io.mintmark.health.HealthReport;
import io.mintmark.postgres.Database;
import io.mintmark.postgres.LogFigures;
import io.mintmark.postgres.PostgresEventStore;
import io.mintmark.thread.BackgroundThread;
import io.mintmark.thread.ThreadName;

import java.util.List;

/** Metrics that are computed when they are scraped: queues, the pool, ages, the process. */
public final class Levels {
    private static final double MILLIS_A_SECOND = 1_000;

    private final Meters meters;

    public Levels(Meters meters) {
        this.meters = meters;
    }

    /** Shows how many requests wait for their rows, and how many rows of refused tokens wait. */
    public void show(AuditLog log, Rejections rejections) {
        meters.show(Metric.AUDIT_QUEUE, log::queued, "mints");
        meters.show(Metric.AUDIT_QUEUE, rejections::queued, "rejections");
    }

    /** Counts how often the database lacked what it had confirmed to one of these writers. */
    public void show(List<PostgresEventStore> writers) {
        meters.follow(
                Metric.AUDIT_LOSSES,
                () -> writers.stream().mapToLong(PostgresEventStore::notReplicated).sum(),
                "promotion");
        meters.follow(
                Metric.AUDIT_LOSSES,
                () -> writers.stream().mapToLong(PostgresEventStore::removed).sum(),
                "removal");
    }

    /** Shows what the connections are doing, and how many threads wait for one. */
    public void show(Database database) {
        meters.show(Metric.DATABASE_CONNECTIONS, () -> database.numbers().active(), "active");
        meters.show(Metric.DATABASE_CONNECTIONS, () -> database.numbers().idle(), "idle");
        meters.show(Metric.DATABASE_WAITING, () -> database.numbers().waiting());
    }

    /** Shows what each check finds. */
    public void show(HealthReport health) {
        for (String check : health.checks()) {
            meters.show(
                    Metric.HEALTHY,
                    () -> health.findings().healthyByName().getOrDefault(check, false) ? 1 : 0,
                    check);
        }
    }

    /** Counts which background threads have died. */
    public void showDeaths() {
        for (ThreadName name : ThreadName.values()) {
            meters.follow(
                    Metric.THREAD_DEATHS, () -> BackgroundThread.deaths(name), name.toString());
        }
    }

    /** Shows whether a file that is read again was rejected. */
    public void show(RereadFile file) {
        meters.show(Metric.FILE_REFUSED, () -> file.isRefused() ? 1 : 0, file.setting());
    }

    /** Shows how long ago the catalogue was last read. */
    public void show(MeasuredCatalogue catalogue) {
        meters.show(
                Metric.CATALOGUE_AGE_SECONDS, () -> catalogue.age().toMillis() / MILLIS_A_SECOND);
    }

    /** Shows the state of the log that all replicas share; NaN if it isn't known. */
    public void show(LogFigures log) {
        meters.show(
                Metric.CHECKPOINT_AGE_SECONDS,
                () ->
                        log.checkpointAge().stream()
                                .mapToDouble(age -> age.toMillis() / MILLIS_A_SECOND)
                                .findFirst()
                                .orElse(Double.NaN));
        meters.show(
                Metric.UNRESOLVED_MINTS,
                () ->
                        log.unresolvedMints().stream()
                                .mapToDouble(count -> count)
                                .findFirst()
                                .orElse(Double.NaN));
        meters.show(
                Metric.ENDINGS_OPEN,
                () ->
                        log.endingsOpen().stream()
                                .mapToDouble(count -> count)
                                .findFirst()
                                .orElse(Double.NaN));
        meters.show(
                Metric.ENDINGS_OLDEST_SECONDS,
                () ->
                        log.oldestEnding().stream()
                                .mapToDouble(age -> age.toMillis() / MILLIS_A_SECOND)
                                .findFirst()
                                .orElse(Double.NaN));
    }

    /**
     * Shows what the process uses.
     *
     * @param version of the program
     * @param signatures whose code signs and verifies
     */
    public void show(String version, String signatures) {
        new ProcessLevels(meters).show(version, signatures);
    }
}
