package io.mintmark.endtoend;

import static io.mintmark.endtoend.ServedCluster.command;
import static io.mintmark.endtoend.ServedCluster.mint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A log is as good after a dump was restored, or the server upgraded, as it was before: PostgreSQL
 * prints definitions that it has parsed again otherwise, which must not look like somebody's edit.
 * Run by {@code .ci/restore}, since it needs PostgreSQL's own programs; {@code
 * -Dpostgres.newer.bin} names those of a newer version. 15.20 and the other minor versions of
 * November 2026 give each column an option that earlier minor versions refuse; {@code
 * -Dpostgres.older.bin} therefore names a server as old as the newer version's.
 */
class DumpIT {
    private static final Path NEWER = Path.of(System.getProperty("postgres.newer.bin", ""));
    private static final Path OLDER =
            Path.of(System.getProperty("postgres.older.bin", PostgresCluster.BIN.toString()));

    @TempDir private Path directory;

    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final List<PostgresCluster> clusters = new ArrayList<>();
    private PostgresCluster primary;

    @BeforeEach
    void aLogWithMints() throws IOException {
        primary = started(PostgresCluster.created(directory.resolve("primary"), OLDER));
        ServedCluster.prepare(primary);
        try (RunningBroker broker = RunningBroker.at(primary.url(), Map.of())) {
            ServedCluster.tenant(primary, issuer, "stays");
            Eventually.holds(() -> mint(broker, issuer, "stays") == 200);
            assertEquals(200, mint(broker, issuer, "stays"));
        }
        assertSound(primary);
    }

    @AfterEach
    void stop() {
        clusters.forEach(PostgresCluster::close);
        issuer.close();
    }

    @Test
    void a_restored_dump_is_proven_and_serves() {
        PostgresCluster restored = started(PostgresCluster.created(directory.resolve("restored")));

        restoreDump(restored, PostgresCluster.BIN);

        assertSound(restored);
        assertServes(restored);
    }

    @Test
    void a_dump_restored_on_a_newer_version_is_proven_and_serves() {
        newerPrograms();
        PostgresCluster restored =
                started(PostgresCluster.created(directory.resolve("restored"), NEWER));

        restoreDump(restored, NEWER);

        assertSound(restored);
        assertServes(restored);
    }

    @Test
    void an_upgraded_server_is_proven_and_serves() throws IOException {
        newerPrograms();
        primary.stop();
        PostgresCluster upgraded =
                PostgresCluster.created(
                        directory.resolve("upgraded"), NEWER, "--no-data-checksums");
        upgraded.upgradeFrom(primary, Files.createDirectory(directory.resolve("work")));
        started(upgraded);

        assertSound(upgraded);
        assertServes(upgraded);
    }

    private static void newerPrograms() {
        assumeTrue(Files.isExecutable(NEWER.resolve("pg_upgrade")), "no newer PostgreSQL is given");
    }

    private PostgresCluster started(PostgresCluster cluster) {
        clusters.add(cluster);
        cluster.start(Map.of());
        return cluster;
    }

    private void restoreDump(PostgresCluster restored, Path bin) {
        Path roles = directory.resolve("roles.sql");
        Path dump = directory.resolve("broker.dump");
        PostgresCluster.run(
                bin,
                "pg_dumpall",
                "-d",
                primary.connection(),
                "--roles-only",
                "-f",
                roles.toString());
        PostgresCluster.run(
                bin,
                "pg_dump",
                "-d",
                primary.connection() + " dbname=postgres",
                "-Fc",
                "-f",
                dump.toString());
        PostgresCluster.run(
                bin,
                "psql",
                "-X",
                "-q",
                "-d",
                restored.connection() + " dbname=postgres",
                "-f",
                roles.toString());
        PostgresCluster.run(
                bin,
                "pg_restore",
                "--exit-on-error",
                "-d",
                restored.connection() + " dbname=postgres",
                dump.toString());
    }

    private static void assertSound(PostgresCluster cluster) {
        Map.Entry<Integer, String> verified =
                command(cluster.url(), "test_auditor", "audit", "verify");
        assertEquals(0, verified.getKey(), verified.getValue());
    }

    /** Without a migration, which would make the objects of the schema again. */
    private void assertServes(PostgresCluster cluster) {
        try (RunningBroker broker =
                RunningBroker.at(cluster.url(), Map.of("DATABASE_MIGRATE", "false"))) {
            Eventually.holds(() -> mint(broker, issuer, "stays") == 200);
        }
        assertSound(cluster);
    }
}
