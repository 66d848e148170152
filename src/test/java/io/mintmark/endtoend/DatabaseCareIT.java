package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.ReservedPorts;
import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The commands of docs/run/database-care.md as the page prints them. Run by {@code .ci/restore},
 * since they need PostgreSQL's own programs.
 */
class DatabaseCareIT {
    private static final String PAGE = "run/database-care.md";

    private static final List<String> BLOCKS = Documented.blocks(PAGE, "sh");

    @TempDir private Path directory;

    private final int port = ReservedPorts.next();

    private final IssuerStandIn issuer = IssuerStandIn.start();
    private PostgresCluster primary;

    @BeforeEach
    void aServerWithAnArchive() throws IOException {
        Files.createDirectory(directory.resolve("archive"));
        primary = PostgresCluster.created(directory.resolve("primary"));
        primary.start(
                Map.of(
                        "archive_mode",
                        "on",
                        "archive_command",
                        "cp %p " + directory.resolve("archive") + "/%f"));
        ServedCluster.prepare(primary);
    }

    @AfterEach
    void stop() {
        primary.close();
        issuer.close();
    }

    @Test
    void the_drill_proves_the_backup_and_leaves_a_line_for_the_auditor() throws Exception {
        OperatorShell shell = shell();
        try (RunningBroker broker = RunningBroker.at(primary.url(), Map.of())) {
            ServedCluster.tenant(primary, issuer, "stays");
            Eventually.holds(() -> ServedCluster.mint(broker, issuer, "stays") == 200);
            shell.succeed(BLOCKS.get(0));
            Eventually.holds(() -> ServedCluster.mint(broker, issuer, "stays") == 200);
        }
        keepCheckpoints(shell);
        primary.archiveTheRest();
        // a checkpoint that is newer than what was restored
        Files.writeString(
                directory.resolve("kept.jsonl"),
                "{\"checkpoint\":99999,\"sealed_at\":\"2099-01-01T00:00:00Z\",\"jws\":\"a.b.c\"}\n",
                StandardOpenOption.APPEND);

        drill(shell);
        shell.succeed(BLOCKS.get(2));

        String line = Files.readString(directory.resolve("drills.log"));
        assertTrue(
                line.matches(
                        "20\\S+Z drill: restored to checkpoint [1-9]\\d* of 20.*, verify exited with 0 after \\d+ s\\n"),
                line);
        String verified = Files.readString(directory.resolve("drill.txt"));
        assertTrue(verified.contains("nothing is missing up to checkpoint"), verified);
    }

    @Test
    void a_drill_that_restores_no_checkpoint_fails_and_leaves_a_line() throws Exception {
        OperatorShell shell = shell();
        Map.Entry<Integer, String> migrated =
                ServedCluster.command(primary.url(), "test_owner", "migrate");
        assertEquals(0, migrated.getKey(), migrated.getValue());
        shell.succeed(BLOCKS.get(0));
        trustedKey(shell);
        Files.writeString(
                directory.resolve("kept.jsonl"),
                "{\"checkpoint\":1,\"sealed_at\":\"2026-01-01T00:00:00Z\",\"jws\":\"a.b.c\"}\n");
        primary.archiveTheRest();

        drill(shell);
        assertEquals(1, shell.run(BLOCKS.get(2)), shell::said);

        String line = Files.readString(directory.resolve("drills.log"));
        assertTrue(
                line.matches(
                        "20\\S+Z drill: restored to NO checkpoint, .*, verify exited with \\d after \\d+ s\\n"),
                line);
    }

    private void drill(OperatorShell shell) {
        shell.succeed(BLOCKS.get(1).replace("5499", Integer.toString(port)));
    }

    @Test
    void an_import_in_batches_holds_the_tenants_lock_for_one_batch_only() throws IOException {
        try (RunningBroker _ = RunningBroker.at(primary.url(), Map.of())) {
            ServedCluster.tenant(primary, issuer);
        }
        primary.run("CREATE ROLE importer LOGIN IN ROLE mintmark_admin");
        Path csv =
                Files.write(
                        directory.resolve("grants.csv"),
                        IntStream.range(0, 1_200)
                                .mapToObj("job:%d,api,OPS-9: import"::formatted)
                                .toList());
        List<String> imports =
                Documented.blocks(PAGE, "sql").stream()
                        .filter(block -> block.contains("\\copy"))
                        .toList();
        assertEquals(1, imports.size());
        Path script =
                Files.writeString(
                        directory.resolve("import.sql"),
                        imports.getFirst()
                                .replace("acme-github", "ci")
                                .replace("grants.csv", csv.toString()));

        primary.psql("importer", script);

        assertEquals(
                "1200 grants, 3 transactions",
                primary.value(
                        "SELECT format('%s grants, %s transactions', count(*), count(DISTINCT transaction_id))"
                                + " FROM audit.config_change WHERE table_name = 'subject_grant'"));
    }

    private OperatorShell shell() throws IOException {
        for (String folder : List.of("backup", "drill")) {
            Files.createDirectory(directory.resolve(folder));
        }
        return new OperatorShell(
                directory,
                "jdbc:postgresql://127.0.0.1:%d/postgres".formatted(port),
                Map.of(
                        "PRIMARY",
                        primary.connection(),
                        "DRILL_DATABASE",
                        "host=127.0.0.1 port=%d user=postgres dbname=postgres".formatted(port),
                        "BACKUP",
                        directory.resolve("backup").toString(),
                        "DRILL",
                        directory.resolve("drill").toString(),
                        "ARCHIVE",
                        directory.resolve("archive").toString()));
    }

    private static void trustedKey(OperatorShell shell) {
        shell.succeed("openssl pkey -in \"$AUDIT_SIGNING_KEY_FILE\" -pubout -out trusted.pem");
    }

    private void keepCheckpoints(OperatorShell shell) throws Exception {
        trustedKey(shell);
        Path log = directory.resolve("log.jsonl");
        Map.Entry<Integer, String> exported =
                ServedCluster.command(
                        primary.url(),
                        "test_auditor",
                        "audit",
                        "export",
                        "--all",
                        "--state",
                        directory.resolve("state.json").toString(),
                        "--output",
                        log.toString());
        assertEquals(0, exported.getKey(), exported.getValue());
        Files.copy(log, directory.resolve("kept.jsonl"));
    }
}
