package io.mintmark.audit.log;

import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.auditor.command.AuditReport;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import java.io.OutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;

/** Seals, exports, verifies and retires the log of a {@link ScaledServer}. */
final class ScaledLog {
    private static final Duration OLD = Duration.ofDays(35);

    /** The rows were made up, so there are findings. */
    private static final PrintStream UNREAD = new PrintStream(OutputStream.nullOutputStream());

    private final ScaledServer server;
    private final SealingKeys keys;

    ScaledLog(ScaledServer server) {
        this.server = server;
        this.keys = server.keys();
    }

    /** As many checkpoints as a log of some age has. */
    void sealOften(long checkpoints) {
        try (Database app = new Database(server.login(Who.APP))) {
            PostgresSeals seals = new PostgresSeals(app, "scale");
            for (long i = 0; i < checkpoints; i++) {
                seals.seal(false, unsealed -> Optional.of(keys.seal(unsealed, "scale", List.of())));
            }
        }
    }

    /** Verifies all of it. */
    void verify() {
        try (PostgresLog log = new PostgresLog(server.login(Who.AUDITOR), TestDatabase.ROLES)) {
            var _ = AuditReport.verify(log, new TrustedKeys(keys.published()), UNREAD);
        }
    }

    /** Retires the first months, as each month does. */
    void retire() {
        YearMonth kept = YearMonth.from(Instant.now().minus(OLD).atZone(ZoneOffset.UTC));
        try (PostgresLog log = new PostgresLog(server.login(Who.OWNER), TestDatabase.ROLES)) {
            var _ = AuditReport.verify(log.before(kept), new TrustedKeys(keys.published()), UNREAD);
        }
        var _ =
                new PostgresRetirement(server.login(Who.OWNER), Duration.ofMinutes(1))
                        .retire(kept, (unsealed, months) -> keys.seal(unsealed, "scale", months))
                        .orElseThrow();
    }

    String lastCheckpoint() {
        return server.superuser().value("SELECT coalesce(max(number), 0) FROM audit.checkpoint");
    }

    /** Seals as each hour and as each minute. */
    void seal(StatementCosts costs) throws Exception {
        try (Database app = new Database(server.login(Who.APP))) {
            PostgresEventStore writer = new PostgresEventStore(app, "scale");
            PostgresSeals seals = new PostgresSeals(app, "scale");
            for (boolean everything : List.of(true, false)) {
                String what =
                        everything ? "a checkpoint of each hour" : "a checkpoint of each minute";
                writer.append(AuditRows.mint("ci:main", "{}"));
                costs.of(
                        what,
                        () ->
                                seals.seal(
                                        everything,
                                        unsealed ->
                                                Optional.of(
                                                        keys.seal(unsealed, "scale", List.of()))));
                server.runner(Who.ADMIN).run(ScaledInstallation.EDIT);
            }
        }
    }

    /** A pass of an export that has nearly all of it. */
    void export(StatementCosts costs) throws Exception {
        long last = Long.parseLong(lastCheckpoint());
        try (LogFeed feed = new LogFeed(server.login(Who.AUDITOR))) {
            var _ = feed.changeHeads(true);
            feed.release();
            server.runner(Who.ADMIN).run(ScaledInstallation.EDIT);
            costs.of(
                    "a pass of an export",
                    () -> {
                        var _ = feed.eventHeads(false);
                        var _ = feed.changeHeads(false);
                        feed.checkpoints(last, _ -> {});
                    });
        }
    }
}
