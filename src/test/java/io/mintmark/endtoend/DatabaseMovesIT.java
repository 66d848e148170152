package io.mintmark.endtoend;

import static io.mintmark.endtoend.ServedCluster.command;
import static io.mintmark.endtoend.ServedCluster.mint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
 * The commands of docs/events/database-moves.md as the page prints them. Run by {@code
 * .ci/restore}, since it needs PostgreSQL's own programs.
 */
class DatabaseMovesIT {
    private static final String PAGE = "events/database-moves.md";
    private static final List<String> BLOCKS = Documented.blocks(PAGE, "sh");
    private static final String BEHIND = Documented.blocks(PAGE, "sql").getFirst();

    @TempDir private Path directory;

    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final List<PostgresCluster> clusters = new ArrayList<>();
    private PostgresCluster old;

    @BeforeEach
    void aLogWithMints() throws IOException {
        old = started("old");
        ServedCluster.prepare(old);
        try (RunningBroker broker = RunningBroker.at(old.url(), Map.of())) {
            ServedCluster.tenant(old, issuer, "stays");
            Eventually.holds(() -> mint(broker, issuer, "stays") == 200);
        }
        assertSound(old.url());
        Path systemctl = directory.resolve("systemctl");
        Files.writeString(systemctl, "#!/bin/sh\necho \"$@\" >> services\n");
        assertTrue(systemctl.toFile().setExecutable(true));
    }

    @AfterEach
    void stop() {
        clusters.forEach(PostgresCluster::close);
        issuer.close();
    }

    private PostgresCluster started(String name) {
        PostgresCluster cluster = PostgresCluster.created(directory.resolve(name));
        clusters.add(cluster);
        cluster.start(Map.of());
        return cluster;
    }

    @Test
    void a_promoted_standby_has_each_row_and_serves() throws IOException {
        Path data = directory.resolve("new");
        int port = RunningBroker.freePort();
        PostgresCluster moved = PostgresCluster.running(data, port);
        clusters.add(moved);
        String rows = old.value("SELECT count(*) FROM audit.event");
        OperatorShell shell = shell(old.url(), data);

        shell.succeed(
                BLOCKS.get(0)
                        .replace("host=old-db user=replicator", old.connection())
                        .replace(
                                "\npg_ctl",
                                "\necho port = %d >> \"$PGDATA/postgresql.conf\"\npg_ctl"
                                        .formatted(port)));
        String behind =
                "SELECT bytes_behind FROM (%s)".formatted(BEHIND.replace(";", "")) + " AS b";
        Eventually.holds(() -> old.column(behind).equals(List.of("0")));
        shell.succeed(BLOCKS.get(1));
        shell(moved.url(), data).succeed(BLOCKS.get(2));

        assertEquals(
                List.of("stop mintmark@8080 mintmark@8090", "start mintmark@8080 mintmark@8090"),
                Files.readAllLines(directory.resolve("services")));
        assertEquals(rows, moved.value("SELECT count(*) FROM audit.event"));
        assertServes(moved.url());
    }

    @Test
    void a_dump_that_was_copied_has_each_row_and_serves() throws IOException {
        PostgresCluster copy = started("copy");
        shell(old.url(), directory)
                .succeed(
                        BLOCKS.get(3)
                                .replace("--host old-db", at(old))
                                .replace("--host new-db", at(copy))
                                .replace(
                                        "mintmark.dump mintmark\npsql",
                                        "mintmark.dump postgres\npsql"));
        assertServes(copy.url().replaceFirst("/postgres$", "/mintmark"));
    }

    private static String at(PostgresCluster cluster) {
        String address = cluster.address();
        return "--host 127.0.0.1 --username postgres --port "
                + address.substring(address.indexOf(':') + 1);
    }

    private OperatorShell shell(String url, Path data) throws IOException {
        return new OperatorShell(
                directory,
                url,
                Map.of(
                        "DATABASE_USERNAME",
                        "test_app",
                        "PGDATA",
                        data.toString(),
                        "OLD_PGDATA",
                        directory.resolve("old").toString()));
    }

    private static void assertSound(String url) {
        Map.Entry<Integer, String> verified = command(url, "test_auditor", "audit", "verify");
        assertEquals(0, verified.getKey(), verified.getValue());
    }

    private void assertServes(String url) {
        assertSound(url);
        try (RunningBroker broker = RunningBroker.at(url, Map.of("DATABASE_MIGRATE", "false"))) {
            Eventually.holds(() -> mint(broker, issuer, "stays") == 200);
        }
        assertSound(url);
    }
}
