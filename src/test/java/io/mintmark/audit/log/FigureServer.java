package io.mintmark.audit.log;

import io.mintmark.audit.Event;
import io.mintmark.base.schema.Migrations;
import io.mintmark.base.sql.Backdated;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.EmbeddedServer;
import io.mintmark.base.sql.SqlRunner;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;

/** A server whose log is measured, and the mints in it. */
final class FigureServer {
    private static final int BATCH = 1_000;
    private static final int WRITERS = 2;

    private FigureServer() {}

    /** The servers of the tests go without fsync. */
    static EmbeddedPostgres.Builder builder() {
        return EmbeddedServer.builder()
                .setServerConfig("fsync", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("max_wal_size", "4GB");
    }

    /**
     * Makes the schema and the configuration.
     *
     * @param age of the configuration
     */
    static void prepare(EmbeddedPostgres server, Duration age) throws IOException {
        createLogins(server);
        migrate(server);
        superuser(server).run(Backdated.configuration(age));
        long began = System.nanoTime();
        superuser(server).run(ManyMints.configuration(age, Who.TENANT_ADMIN.login()));
        System.out.printf(
                "configured in %d s%n", Duration.ofNanos(System.nanoTime() - began).toSeconds());
    }

    static void createLogins(EmbeddedPostgres server) throws IOException {
        superuser(server).run(Files.readString(Path.of("db", "roles.sql")));
        for (Who who : Who.values()) {
            superuser(server)
                    .run(
                            "CREATE ROLE %s LOGIN IN ROLE %s"
                                    .formatted(
                                            who.login(), who.login().replace("test", "mintmark")));
        }
    }

    static void migrate(EmbeddedPostgres server) {
        new Migrations(login(server, Who.OWNER.login()), TestDatabase.ROLES, false).run();
    }

    static DatabaseLogin login(EmbeddedPostgres server, String user) {
        return new DatabaseLogin(
                "jdbc:postgresql://localhost:%d/postgres".formatted(server.getPort()),
                user,
                () -> Optional.empty());
    }

    static SqlRunner superuser(EmbeddedPostgres server) {
        return () -> server.getPostgresDatabase().getConnection();
    }

    /**
     * Writes mints of a span of time by two writers, each with a chain of its own, as two replicas
     * would.
     */
    static void fill(
            EmbeddedPostgres server, Database connections, long count, Instant begin, Instant end) {
        ManyMints mints = mints(server, count, begin, end);
        long began = System.nanoTime();
        try (var writers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int writer = 0; writer < WRITERS; writer++) {
                int own = writer;
                var _ = writers.submit(() -> fill(connections, mints, own));
            }
        }
        System.out.printf(
                "%,d rows in batches in %d s%n",
                2 * count, Duration.ofNanos(System.nanoTime() - began).toSeconds());
    }

    private static ManyMints mints(
            EmbeddedPostgres server, long count, Instant begin, Instant end) {
        try (Connection auditor =
                server.getDatabase(Who.AUDITOR.login(), "postgres").getConnection()) {
            return new ManyMints(count, begin, end, auditor);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void fill(Database connections, ManyMints mints, int writer) {
        PostgresEventStore store = new PostgresEventStore(connections, "figures/" + writer);
        List<Event> batch = new ArrayList<>(BATCH);
        for (long mint = writer; mint < mints.count(); mint += WRITERS) {
            batch.addAll(mints.mint(mint));
            if (batch.size() >= BATCH) {
                store.append(batch);
                batch.clear();
            }
        }
        if (!batch.isEmpty()) {
            store.append(batch);
        }
    }
}
