package io.mintmark.postgres;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Event;
import io.mintmark.audit.TrustedKeys;
import io.mintmark.audit.Verification;
import io.mintmark.postgres.PostgresExport.By;
import io.mintmark.postgres.TestDatabase.Who;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

/**
 * How fast the log is written, verified and asked, with fsync. Not run with the tests, but by
 *
 * <pre>mvn test -Dtest=AuditFigures -Dfigures.rows=10000000</pre>
 *
 * on an embedded server of its own.
 */
class AuditFigures {
    private static final long ROWS = Long.getLong("figures.rows", 200_000);
    private static final Roles ROLES =
            new Roles(
                    "mintmark_owner",
                    "mintmark_app",
                    "mintmark_admin",
                    "mintmark_tenant_admin",
                    "mintmark_auditor");
    private static final int CLIENTS = 64;
    private static final Duration SPAN = Duration.ofSeconds(10);
    private static final int BATCH = 1_000;

    @Test
    void figures() throws IOException {
        try (EmbeddedPostgres server = server()) {
            DatabaseLogin app = login(server, Who.APP.login());
            try (Database connections = new Database(app)) {
                System.out.printf("fsync is %s%n", column(server, "SHOW fsync").getFirst());
                write(connections);
                fill(connections);
                Seals.seal(app, Instant.now());
                run(server, "VACUUM ANALYZE audit.event");
                verify(login(server, Who.AUDITOR.login()));
                ask(server);
            }
        }
    }

    /** The one of the tests goes without fsync. */
    private static EmbeddedPostgres server() throws IOException {
        EmbeddedPostgres server =
                EmbeddedPostgres.builder()
                        .setServerConfig("fsync", "on")
                        .setServerConfig("full_page_writes", "on")
                        .setServerConfig("max_wal_size", "4GB")
                        .start();
        run(server, Files.readString(Path.of("db", "roles.sql")));
        for (Who who : List.of(Who.OWNER, Who.APP, Who.AUDITOR)) {
            run(
                    server,
                    "CREATE ROLE %s LOGIN IN ROLE %s"
                            .formatted(who.login(), who.login().replace("test", "mintmark")));
        }
        new Migrations(login(server, Who.OWNER.login()), ROLES, false).run();
        return server;
    }

    private static DatabaseLogin login(EmbeddedPostgres server, String user) {
        return new DatabaseLogin(
                "jdbc:postgresql://localhost:%d/postgres".formatted(server.getPort()),
                user,
                Optional.empty());
    }

    private static void run(EmbeddedPostgres server, String sql) {
        try (Connection connection = server.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private static List<String> column(EmbeddedPostgres server, String sql) {
        try (Connection connection = server.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private static void write(Database connections) {
        ConcurrentLinkedQueue<Long> nanos = new ConcurrentLinkedQueue<>();
        try (AuditLog log =
                new AuditLog(new PostgresEventStore(connections, "figures"), Duration.ofSeconds(5))
                        .start()) {
            long end = System.nanoTime() + SPAN.toNanos();
            try (var clients = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int i = 0; i < CLIENTS; i++) {
                    var _ = clients.submit(() -> mint(log, end, nanos));
                }
            }
        }
        List<Long> sorted = new ArrayList<>(nanos);
        Collections.sort(sorted);
        System.out.printf(
                "%d clients at a time, a commit each for intent and outcome: %,d events/s,"
                        + " a commit waits %.2f ms (median), %.2f ms (p99)%n",
                CLIENTS,
                sorted.size() / SPAN.toSeconds(),
                sorted.get(sorted.size() / 2) / 1e6,
                sorted.get(sorted.size() * 99 / 100) / 1e6);
    }

    private static void mint(AuditLog log, long end, ConcurrentLinkedQueue<Long> nanos) {
        while (System.nanoTime() < end) {
            for (Event row : AuditRows.mint("ci:main", "{\"ref\":\"refs/heads/main\"}")) {
                long began = System.nanoTime();
                var _ = log.record(List.of(row));
                nanos.add(System.nanoTime() - began);
            }
        }
    }

    private static void fill(Database connections) {
        PostgresEventStore store = new PostgresEventStore(connections, "figures");
        long began = System.nanoTime();
        for (long rows = 0; rows < ROWS; rows += BATCH) {
            List<Event> batch = new ArrayList<>(BATCH);
            for (int i = 0; i < BATCH / 2; i++) {
                batch.addAll(AuditRows.mint("subject-" + (rows / 2 + i), "{\"ref\":\"main\"}"));
            }
            store.append(batch);
        }
        System.out.printf("%,d rows in batches: %,d rows/s%n", ROWS, perSecond(ROWS, began));
    }

    private static void verify(DatabaseLogin auditor) {
        Runtime runtime = Runtime.getRuntime();
        long began = System.nanoTime();
        Seals.Found found = new Seals.Found();
        try (PostgresLog log = new PostgresLog(auditor)) {
            Verification.Summary summary =
                    new Verification(log, new TrustedKeys(List.of(Seals.KEY)), found)
                            .run(Stream.empty());
            System.out.printf(
                    "verified %,d rows: %,d rows/s, %d findings, heap %d MiB of %d MiB%n",
                    summary.events(),
                    perSecond(summary.events(), began),
                    found.wrong.size(),
                    (runtime.totalMemory() - runtime.freeMemory()) >> 20,
                    runtime.maxMemory() >> 20);
        }
    }

    private static void ask(EmbeddedPostgres server) {
        String mint =
                column(
                                server,
                                "SELECT mint_id FROM audit.event WHERE subject = 'subject-77'"
                                        + " LIMIT 1")
                        .getFirst();
        try (PostgresExport export = new PostgresExport(login(server, Who.AUDITOR.login()))) {
            for (int warm = 0; warm < 2; warm++) {
                timed("show --mint", () -> export.timeline(By.MINT, mint, 50, _ -> {}));
                timed(
                        "show --subject",
                        () -> export.timeline(By.SUBJECT, "subject-99", 50, _ -> {}));
                timed("a busy subject", () -> export.timeline(By.SUBJECT, "ci:main", 50, _ -> {}));
                timed(
                        "show --credential",
                        () -> export.timeline(By.CREDENTIAL, "ASIAsubject-98", 50, _ -> {}));
            }
        }
        for (String view :
                List.of("unresolved", "denial", "unused_grant", "active_credential LIMIT 1000")) {
            timed(
                    view,
                    () -> {
                        var _ = column(server, "SELECT * FROM audit." + view);
                    });
        }
    }

    private static void timed(String what, Runnable work) {
        long began = System.nanoTime();
        work.run();
        System.out.printf("%-30s %8.1f ms%n", what, (System.nanoTime() - began) / 1e6);
    }

    private static long perSecond(long count, long began) {
        return (long) (count / ((System.nanoTime() - began) / 1e9));
    }
}
