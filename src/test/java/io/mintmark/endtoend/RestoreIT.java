package io.mintmark.endtoend;

import static io.mintmark.endtoend.ServedCluster.command;
import static io.mintmark.endtoend.ServedCluster.grant;
import static io.mintmark.endtoend.ServedCluster.mint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AuditCommand;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.provider.sts.StsStandIn;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The commands of docs/run/restore.md as the page prints them, step by step: a base backup and the
 * WAL archive brought to a point in time. Run by {@code .ci/restore}, since it needs PostgreSQL's
 * own programs.
 */
class RestoreIT {
    private static final String PAGE = "run/restore.md";
    private static final List<String> BLOCKS = Documented.blocks(PAGE, "sh");

    @TempDir private Path directory;

    private final IssuerStandIn issuer = IssuerStandIn.start();
    private PostgresCluster primary;
    private PostgresCluster restored;
    private final List<String> uses = new ArrayList<>();
    private @Nullable StsStandIn sts;
    private Path export;
    private Path kept;

    @BeforeEach
    void aDatabaseWithAnArchive() throws IOException {
        Files.createDirectory(directory.resolve("wal"));
        export = directory.resolve("log.jsonl");
        kept = directory.resolve("kept.jsonl");
        primary = PostgresCluster.created(directory.resolve("primary"));
        primary.start(
                Map.of(
                        "archive_mode",
                        "on",
                        "archive_command",
                        "cp %p " + directory.resolve("wal") + "/%f"));
        restored = primary;
        ServedCluster.prepare(primary);
    }

    @AfterEach
    void stop() {
        restored.close();
        primary.close();
        issuer.close();
        if (sts != null) {
            sts.close();
        }
    }

    @Test
    void a_restored_broker_revokes_again_and_proves_its_log_with_the_gap_named()
            throws IOException {
        String point = liveUntilTheDisaster();
        OperatorShell shell = shell();
        restore(shell, point);
        String answered = stopReplicas(shell);

        shell.succeed(
                BLOCKS.get(2)
                        .replace("docs/run", Path.of("docs", "run").toAbsolutePath().toString()));
        String forgotten = shell.said().replaceAll(" +", " ");
        assertForgotten(forgotten);
        revokeAgain();
        compareTheIds();
        String accepted = declareTheGap(shell, answered);
        try (RunningBroker broker = RunningBroker.at(restored.url(), Map.of())) {
            Eventually.holds(() -> mint(broker, issuer, "stays") == 200);
            assertEquals(403, mint(broker, issuer, "goes"), "revoked, and revoked again");
            assertEquals(403, mint(broker, issuer, "comes"), "made after the point in time");
        }
        reconcile(shell);
        shell.succeed(accepted);
    }

    /** Step 0, in good times: a base backup, and an export that is kept elsewhere. */
    private String liveUntilTheDisaster() throws IOException {
        String point;
        try (RunningBroker broker = RunningBroker.at(primary.url(), Map.of())) {
            ServedCluster.tenant(primary, issuer, "stays", "goes");
            aws(broker);
            uses.add(use(broker));
            var _ = primary.copied(directory.resolve("base"), "-X", "none");
            restored = primary.restoredAt(directory.resolve("restored"));
            Eventually.holds(() -> mint(broker, issuer, "goes") == 200);
            point = primary.value("SELECT clock_timestamp()");
            primary.run("DELETE FROM broker.subject_grant WHERE subject = 'goes'");
            grant(primary, "comes");
            Eventually.holds(() -> mint(broker, issuer, "comes") == 200);
            assertEquals(403, mint(broker, issuer, "goes"));
            askForAccess(broker);
            uses.add(use(broker));
        }
        export();
        primary.archiveTheRest();
        primary.stopImmediately();
        return point;
    }

    private void aws(RunningBroker broker) {
        sts = StsStandIn.aws(broker.url().toString(), broker::keySet);
        primary.run(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'aws', 'aws-sts', '{"region": "eu-central-1", "endpoint": "%s"}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'deploy', 'aws', 3600, '{"role_arn": "%s"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
                VALUES ('acme', 'ci', 'stays', 'deploy', 'OPS-1');
                """
                        .formatted(sts.endpoint(), World.ROLE));
    }

    /** Its request, which is lost too, has a UUID as id and not a number. */
    private void askForAccess(RunningBroker broker) {
        primary.run(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'spare', 'own', 600, '{"audience": "https://spare.example.com"}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, break_glass)
                VALUES ('acme', 'spare', 'ci', 'stays', 'exact', 0, 7200, true);
                """);
        Eventually.holds(() ->
                broker.requestAccess(issuer.sign("stays", "mintmark-acme"), "spare").status()
                        == 202);
    }

    /** A credential of AWS, minted and used: the line that CloudTrail has of it. */
    private String use(RunningBroker broker) {
        String token = issuer.sign("stays", "mintmark-acme");
        Eventually.holds(() -> broker.mint(token, "deploy").status() == 200);
        return primary.value(
                "SELECT mint_id || ' ' || credential_id FROM audit.event WHERE key = 'deploy' AND"
                        + " kind = 'issued' ORDER BY mint_id DESC LIMIT 1");
    }

    /** Step 6: AWS knows of three sessions; the broker made two, and the database forgot one. */
    private void reconcile(OperatorShell shell) throws IOException {
        String foreign = "01a20138-0000-7000-8000-000000000001 ASIAFOREIGN";
        uses.add(foreign);
        Files.write(
                directory.resolve("events.jsonl"),
                uses.stream().map(RestoreIT::cloudTrail).toList());
        shell.succeed(
                BLOCKS.get(4)
                        .replace(
                                "docs/audit",
                                Path.of("docs", "audit").toAbsolutePath().toString()));
        assertEquals(mintOf(foreign) + " is unknown", shell.said().strip());
        String unknown = Files.readString(directory.resolve("unknown.txt"));
        assertTrue(unknown.contains(mintOf(uses.get(1))), unknown);
        assertFalse(unknown.contains(mintOf(uses.get(0))), unknown);
        String exported = Files.readString(export);
        assertTrue(exported.contains(mintOf(uses.get(1))), "forgotten");
        assertFalse(exported.contains(mintOf(foreign)), "nobody's");
    }

    private static String mintOf(String use) {
        return use.substring(0, use.indexOf(' '));
    }

    private static String cloudTrail(String use) {
        return """
        {"userIdentity": {"type": "AssumedRole", "accessKeyId": "%2$s", "arn": "arn:aws:sts::123456789012:assumed-role/deploy/%1$s",         "sessionContext": {"sessionIssuer": {"arn": "%3$s"}}}, "eventTime": "%4$s", "eventSource": "s3.amazonaws.com",         "eventName": "GetObject", "sourceIPAddress": "192.0.2.20"}\
        """
                .formatted(
                        mintOf(use),
                        use.substring(use.indexOf(' ') + 1),
                        World.ROLE,
                        Instant.now());
    }

    private void export() throws IOException {
        Map.Entry<Integer, String> exported =
                command(
                        primary.url(),
                        "test_auditor",
                        "audit",
                        "export",
                        "--all",
                        "--state",
                        directory.resolve("state.json").toString(),
                        "--output",
                        export.toString());
        assertEquals(0, exported.getKey(), exported.getValue());
        List<String> checkpoints =
                Files.readAllLines(export).stream()
                        .filter(line -> line.startsWith("{\"checkpoint\""))
                        .toList();
        assertFalse(checkpoints.isEmpty());
        Files.write(kept, checkpoints);
    }

    private OperatorShell shell() throws IOException {
        URI server = URI.create(restored.url().substring("jdbc:".length()));
        return new OperatorShell(
                directory,
                restored.url(),
                Map.of(
                        "PGHOST",
                        server.getHost(),
                        "PGPORT",
                        Integer.toString(server.getPort()),
                        "PGUSER",
                        "postgres",
                        "DATABASE",
                        restored.connection().replace("user=postgres", "user=test_auditor")
                                + " dbname=postgres"));
    }

    /** Step 1: the base backup and the archive, up to the point. */
    private void restore(OperatorShell shell, String point) {
        shell.succeed(
                BLOCKS.get(0)
                        .replace("/archive", directory.resolve("wal").toString())
                        .replace("2026-06-01 14:02:07+00", point));
        assertTrue(shell.said().contains("recovery stopping before commit"), shell.said());
        assertEquals(List.of("f"), restored.column("SELECT pg_is_in_recovery()"));
    }

    /** The service's login is another one in tests, and has no file with its password. */
    private static List<String> commands(int block) {
        return BLOCKS.get(block)
                .replace("\\\n", "")
                .replace("DATABASE_USERNAME=mintmark_service", "DATABASE_USERNAME=test_app")
                .replaceAll("DATABASE_PASSWORD_FILE=\\S+", "")
                .lines()
                .toList();
    }

    /** Step 2. */
    private String stopReplicas(OperatorShell shell) {
        assertEquals(1, shell.run(commands(1).getFirst()), "checkpoints are lost");
        String said = shell.said();
        assertTrue(said.contains("Lost: changes of tenant "), said);
        assertTrue(
                said.contains("Lost, so make this change again: DELETE of subject_grant (id "),
                said);
        try (RunningBroker early = RunningBroker.at(restored.url(), Map.of())) {
            assertEquals(503, mint(early, issuer, "stays"), "it started too early");
        }
        return AuditCommand.answered(said);
    }

    /** Step 5. Returns the command that passes from now on. */
    private String declareTheGap(OperatorShell shell, String answered) {
        List<String> commands = commands(3);
        shell.succeed(commands.get(0).replace("CODE", answered));
        assertEquals(3, shell.run(commands.get(1)), "declared, and not accepted yet");
        String hash = shell.said().replaceAll("(?s).*--accept-gap ([0-9a-f]{64}).*", "$1");
        String accepting = commands.get(2).replace("HASH", hash);
        shell.succeed(accepting);
        return accepting;
    }

    private static void assertForgotten(String forgotten) {
        assertTrue(forgotten.contains("DELETE"), forgotten);
        assertTrue(forgotten.contains("\"subject\": \"goes\""), forgotten);
        assertTrue(forgotten.contains("\"subject\": \"comes\""), forgotten);
        assertTrue(forgotten.contains("| acme | comes | api | issued |"), forgotten);
        assertTrue(forgotten.contains("subject_grant | 5\n"), forgotten);
        assertTrue(forgotten.contains("access_rule | 1\n"), forgotten);
    }

    /** Step 3: what was revoked after the point, before a broker runs. */
    private void revokeAgain() {
        restored.assertRows(
                "SELECT subject FROM broker.subject_grant WHERE subject = 'goes'", "goes");
        restored.run("DELETE FROM broker.subject_grant WHERE subject = 'goes'");
    }

    /** Step 4: no id is given twice, since the log names grants by them. */
    private void compareTheIds() {
        restored.run("SET ROLE mintmark_owner; " + Documented.blocks(PAGE, "sql").getFirst());
        grant(restored, "later");
        assertTrue(
                Long.parseLong(
                                restored.value(
                                        "SELECT id FROM broker.subject_grant WHERE subject ="
                                                + " 'later'"))
                        > 1_000_000);
    }
}
