package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mintmark.audit.Event;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.sql.TestServer;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * docs/audit/correlation.sql against files such as the clouds write, with the members that their
 * documentation shows: src/test/resources/correlation. Each has events that came through the
 * broker, that didn't, and mints that nobody used.
 */
class CorrelationTest {
    @AutoClose private final TestDatabase database = TestDatabase.migrated();
    private final Database connections = database.closing(new Database(database.login(Who.APP)));
    private final PostgresEventStore store = new PostgresEventStore(connections, "here/1");

    @TempDir private Path directory;

    @BeforeEach
    void keys() {
        assumeTrue(Script.isThere("psql"));
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('acme');
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'aws', 'aws-sts', '{"region": "eu-central-1"}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'deploy', 'aws', 3600,
                        '{"role_arn": "arn:aws:iam::123456789012:role/deploy"}');
                UPDATE broker.key SET settings = '{"role_arn": "arn:aws:iam::123456789012:role/newer"}';
                """);
    }

    private String minted(List<Event> rows) {
        store.append(rows);
        return rows.getFirst().mintId().toString();
    }

    @Test
    void cloudtrail_shows_roles_used_past_the_broker_and_mints_never_used() throws Exception {
        Map<String, String> mints =
                Map.of(
                        "{used}", minted(AuditRows.mint("deploy", "aws-sts", "ASIAused", true)),
                        "{unused}", minted(AuditRows.mint("deploy", "aws-sts", "ASIAunused", true)),
                        "{withheld}",
                                minted(AuditRows.mint("deploy", "aws-sts", "ASIAwithheld", false)),
                        "{doubtful}", minted(AuditRows.failed("ci:main", "provider_timeout")));
        assertEquals(
                """
                AWS: uses of roles that did not come through the broker
                AssumeRoleWithWebIdentity ASIAforeign
                GetObjectBorrowing ASIAother
                GetObjectForeign ASIAforeign
                GetObjectWithheld ASIAwithheld
                AWS: credentials of mints that failed or have no outcome
                ASIAdoubtful
                AWS: mints in the time of the file that were never used
                ASIAunused
                """,
                run("cloudtrail", mints));
    }

    @Test
    void the_audit_log_of_minio_shows_keys_that_the_broker_did_not_hand_out_and_mints_never_used()
            throws Exception {
        store.append(AuditRows.mint("bucket", "s3-sts", "USEDKEY", true));
        store.append(AuditRows.mint("bucket", "s3-sts", "UNUSEDKEY", true));
        store.append(AuditRows.mint("bucket", "s3-sts", "WITHHELDKEY", false));
        assertEquals(
                """
                MinIO: uses of credentials that did not come through the broker
                GetObjectForeign FOREIGNKEY
                GetObjectWithheld WITHHELDKEY
                MinIO: mints in the time of the file that were never used
                UNUSEDKEY
                """,
                run("minio", Map.of()));
    }

    @Test
    void the_audit_log_of_google_shows_who_used_the_pool_past_the_broker_and_mints_never_used()
            throws Exception {
        String deploy = minted(AuditRows.mint("deploy", "gcp", "aa", true));
        String direct = minted(AuditRows.mint("direct", "gcp", "bb", true));
        String idle = minted(AuditRows.mint("idle", "gcp", "cc", true));
        assertEquals(
                """
                Google: uses of the pool that did not come through the broker
                GenerateAccessToken subject/tenant:acme:key:deploy
                google.identity.sts.v1.SecurityTokenService.ExchangeToken subject/repo:acme/shop:ref:refs/heads/main
                storage.objects.foreign subject/repo:acme/shop:ref:refs/heads/main
                storage.objects.othertenant subject/tenant:other:key:deploy
                storage.objects.late subject/tenant:acme:key:deploy
                Google: mints in the time of the file that were never used
                %s
                """
                        .formatted(idle),
                run(
                        "google",
                        Map.of(
                                "{mint of deploy}", deploy,
                                "{mint of direct}", direct,
                                "{mint of idle}", idle)));
    }

    /** What the script prints of a cloud's file, without times and addresses. */
    private String run(String cloud, Map<String, String> mints) throws Exception {
        Path file = filled(cloud, mints);
        TestServer.Address server = TestServer.address();
        ProcessBuilder builder =
                new ProcessBuilder(
                        "psql",
                        "-XqAt",
                        "-v",
                        "ON_ERROR_STOP=1",
                        "-v",
                        cloud + "=" + file,
                        "-f",
                        "docs/audit/correlation.sql");
        builder.environment().put("PGHOST", server.host());
        builder.environment().put("PGPORT", Integer.toString(server.port()));
        builder.environment().put("PGDATABASE", database.name());
        builder.environment().put("PGUSER", Who.AUDITOR.login());
        builder.environment().put("PGPASSWORD", database.password());
        Process process = builder.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        StringBuilder told = new StringBuilder();
        output.lines()
                .forEach(line ->
                        told.append(line.contains("|") ? summary(line) : line).append('\n'));
        return told.toString();
    }

    /** The event and who did it, or the mint. */
    private static String summary(String line) {
        List<String> cells = List.of(line.split("\\|"));
        if (cells.getFirst().matches("[0-9a-f-]{36}")) {
            return cells.size() > 5 ? cells.getLast() : cells.getFirst();
        }
        if (line.contains("provider_timeout")) {
            return cells.get(2);
        }
        return line.contains("workloadIdentityPools")
                ? cells.get(1) + " " + cells.get(2).replaceFirst("^.*/subject/", "subject/")
                : cells.get(1) + " " + cells.get(3);
    }

    private Path filled(String cloud, Map<String, String> mints) throws IOException {
        Instant now = Instant.now();
        String text =
                Files.readString(Path.of("src/test/resources/correlation", cloud + ".jsonl"))
                        .replace("{before}", now.minusSeconds(60).toString())
                        .replace("{now}", now.toString())
                        .replace("{after}", now.plusSeconds(4_000).toString());
        for (var mint : mints.entrySet()) {
            text = text.replace(mint.getKey(), mint.getValue());
        }
        return Files.writeString(directory.resolve(cloud), text);
    }
}
