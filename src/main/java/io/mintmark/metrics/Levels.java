package io.mintmark.metrics;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Rejections;
import io.mintmark.postgres.Database;

/** The numbers that are asked for when somebody looks: queues, the pool, the catalogue's age. */
public final class Levels {
    private static final double MILLIS_A_SECOND = 1_000;

    private final Meters meters;

    public Levels(Meters meters) {
        this.meters = meters;
    }

    /** Shows how many requests wait for their rows, and how many rows of refused tokens wait. */
    public void show(AuditLog log, Rejections rejections) {
        meters.show("audit_queue", log::queued, "queue", "mints");
        meters.show("audit_queue", rejections::queued, "queue", "rejections");
    }

    /** Shows what the connections are doing, and how many threads wait for one. */
    public void show(Database database) {
        meters.show("database_connections", () -> database.numbers().active(), "state", "active");
        meters.show("database_connections", () -> database.numbers().idle(), "state", "idle");
        meters.show("database_waiting", () -> database.numbers().waiting());
    }

    /** Shows how long ago the catalogue was last read. */
    public void show(MeasuredCatalogue catalogue) {
        meters.show("catalogue_age_seconds", () -> catalogue.age().toMillis() / MILLIS_A_SECOND);
    }
}
