package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.ReservedPorts;
import io.mintmark.Unchecked;
import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The commands of docs/run/database-care.md as the page prints them. Run by {@code .ci/restore},
 * since they need PostgreSQL's own programs.
 */
class DatabaseCareIT {
    private static final Path PAGE = Path.of("docs", "run", "database-care.md");

    @TempDir private Path directory;

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

    private static List<String> blocks(String language) throws IOException {
        return Pattern.compile("(?ms)^```" + language + "\\n(.*?)^```$")
                .matcher(Files.readString(PAGE))
                .results()
                .map((MatchResult block) -> block.group(1))
                .toList();
    }

    @Test
    void the_drill_proves_the_backup_and_leaves_a_line_for_the_auditor() throws Exception {
        List<String> blocks = blocks("sh");
        int port = ReservedPorts.next();
        Map<String, String> environment = environment(port);
        try (RunningBroker broker = RunningBroker.at(primary.url(), Map.of())) {
            ServedCluster.tenant(primary, issuer, "stays");
            Eventually.holds(() -> ServedCluster.mint(broker, issuer, "stays") == 200);
            shell(blocks.get(0), environment);
            Eventually.holds(() -> ServedCluster.mint(broker, issuer, "stays") == 200);
        }
        keepCheckpoints();
        primary.run("SELECT pg_switch_wal()");
        Eventually.holds(() ->
                primary.column(
                                "SELECT last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() -"
                                        + " 1) FROM pg_stat_archiver")
                        .equals(List.of("t")));
        // a checkpoint that is newer than what was restored
        Files.writeString(
                directory.resolve("kept.jsonl"),
                "{\"checkpoint\":99999,\"sealed_at\":\"2099-01-01T00:00:00Z\",\"jws\":\"a.b.c\"}\n",
                StandardOpenOption.APPEND);

        shell(blocks.get(1).replace("5499", Integer.toString(port)), environment);
        shell(blocks.get(2), environment);

        String line = Files.readString(directory.resolve("drills.log"));
        assertTrue(
                line.matches(
                        "20\\S+Z drill: restored to checkpoint [1-9]\\d* of 20.*, verify exited with 0\\n"),
                line);
        String verified = Files.readString(directory.resolve("drill.txt"));
        assertTrue(verified.contains("nothing is missing up to checkpoint"), verified);
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
                blocks("sql").stream().filter(block -> block.contains("\\copy")).toList();
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

    private Map<String, String> environment(int port) throws IOException {
        Map<String, String> environment =
                new HashMap<>(RunningBroker.environment(primary.url(), 1));
        environment.put("DATABASE_URL", "jdbc:postgresql://127.0.0.1:%d/postgres".formatted(port));
        environment.put("DATABASE_USERNAME", "test_auditor");
        environment.put("PRIMARY", primary.connection());
        environment.put(
                "DRILL_DATABASE",
                "host=127.0.0.1 port=%d user=postgres dbname=postgres".formatted(port));
        for (String folder : List.of("backup", "drill")) {
            Files.createDirectory(directory.resolve(folder));
        }
        environment.put("BACKUP", directory.resolve("backup").toString());
        environment.put("DRILL", directory.resolve("drill").toString());
        environment.put("ARCHIVE", directory.resolve("archive").toString());
        Path program = directory.resolve("mintmark");
        Files.writeString(
                program,
                "#!/bin/sh\nexec '%s/bin/java' -cp '%s' io.mintmark.Main \"$@\"\n"
                        .formatted(
                                System.getProperty("java.home"),
                                System.getProperty("java.class.path")));
        assertTrue(program.toFile().setExecutable(true));
        environment.put(
                "PATH",
                "%s:%s:%s".formatted(directory, PostgresCluster.BIN, System.getenv("PATH")));
        return environment;
    }

    private void keepCheckpoints() throws Exception {
        Map<String, String> environment = RunningBroker.environment(primary.url(), 1);
        shell(
                "openssl pkey -in '%s' -pubout -out trusted.pem"
                        .formatted(environment.get("AUDIT_SIGNING_KEY_FILE")),
                Map.of());
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

    /** Runs a block in the test's folder. */
    private void shell(String block, Map<String, String> environment) throws Exception {
        ProcessBuilder builder =
                new ProcessBuilder(
                                PostgresCluster.unprivileged(
                                        "bash", "-eo", "pipefail", "-c", block))
                        .directory(directory.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("said").toFile());
        builder.environment().putAll(environment);
        int status = builder.start().waitFor();
        assertEquals(
                0,
                status,
                () ->
                        Unchecked.call(() ->
                                Files.readString(
                                        directory.resolve("said"), StandardCharsets.UTF_8)));
    }
}
