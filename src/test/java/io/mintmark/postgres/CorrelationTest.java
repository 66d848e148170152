package io.mintmark.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mintmark.postgres.TestDatabase.Who;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;

/** docs/correlation.sql against lines such as the clouds write. */
class CorrelationTest {
    private final TestDatabase database = TestDatabase.migrated();

    @TempDir private Path directory;

    @BeforeEach
    void log() {
        assumeTrue(ForeignVerifierTest.isThere("psql"));
        try (Database connections = new Database(database.login(Who.APP))) {
            PostgresEventStore store = new PostgresEventStore(connections, "here/1");
            store.append(AuditRows.mint("used", "{}"));
            store.append(AuditRows.mint("unused", "{}"));
        }
    }

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void role_uses_that_did_not_come_through_the_broker_and_mints_never_used_are_listed()
            throws Exception {
        String mint =
                database.column("SELECT mint_id FROM audit.mint WHERE subject = 'used'").getFirst();
        Path file = directory.resolve("cloudtrail.jsonl");
        Instant now = Instant.now();
        Files.write(
                file,
                List.of(
                        use(now.minusSeconds(60), "early", "someone", "ASIAsomeone"),
                        use(now, "good", mint, "ASIAused"),
                        use(now.plusSeconds(1), "borrowed", mint, "ASIAother"),
                        use(now.plusSeconds(60), "foreign", "someone", "ASIAsomeone")));
        assertEquals(
                List.of("early", "borrowed", "foreign", "ASIAunused"),
                run("cloudtrail=" + file).stream()
                        .flatMap(line -> List.of(line.split("\\|")).stream())
                        .filter(cell -> cell.matches("early|good|borrowed|foreign|ASIA(un)?used"))
                        .collect(Collectors.toList()));
    }

    private static String use(Instant at, String name, String session, String accessKey) {
        return """
        {"eventTime":"%s","eventName":"%s","sourceIPAddress":"192.0.2.1","requestParameters":\
        {"q":"a\\"b\\\\c,d"},"userIdentity":{"type":"AssumedRole","accessKeyId":"%s",\
        "arn":"arn:aws:sts::123456789012:assumed-role/deploy/%s"}}\
        """
                .formatted(at, name, accessKey, session);
    }

    @Test
    void keys_of_minio_that_the_broker_did_not_hand_out_are_listed() throws Exception {
        Path file = directory.resolve("minio.jsonl");
        Files.write(
                file,
                List.of("ASIAused", "AKIAroot").stream()
                        .map(key ->
                                """
                                {"time":"%s","accessKey":"%s","remotehost":"192.0.2.1",\
                                "api":{"name":"GetObject","bucket":"b"}}\
                                """
                                        .formatted(Instant.now(), key))
                        .toList());
        List<String> found = run("minio=" + file);
        assertEquals(1, found.stream().filter(line -> line.contains("AKIAroot")).count());
        assertEquals(0, found.stream().filter(line -> line.contains("ASIAused")).count());
    }

    @Test
    void uses_of_google_are_explained_by_a_credential_of_their_key() throws Exception {
        Path file = directory.resolve("google.jsonl");
        Files.write(
                file,
                List.of("tenant:acme:key:deploy", "tenant:other:key:deploy").stream()
                        .map(subject ->
                                """
                                {"timestamp":"%s","protoPayload":{"methodName":"m","authenticationInfo":\
                                {"principalSubject":"principal://iam.googleapis.com/projects/1/locations/\
                                global/workloadIdentityPools/p/subject/%s"}}}\
                                """
                                        .formatted(Instant.now(), subject))
                        .toList());
        List<String> found = run("google=" + file);
        assertEquals(2, found.stream().filter(line -> line.contains("subject/tenant:")).count());
    }

    private List<String> run(String variable) throws Exception {
        TestServer.Address server = TestServer.address();
        ProcessBuilder builder =
                new ProcessBuilder(
                        "psql",
                        "-XqAt",
                        "-v",
                        "ON_ERROR_STOP=1",
                        "-v",
                        variable,
                        "-f",
                        "docs/correlation.sql");
        builder.environment().put("PGHOST", server.host());
        builder.environment().put("PGPORT", Integer.toString(server.port()));
        builder.environment().put("PGDATABASE", database.name());
        builder.environment().put("PGUSER", Who.AUDITOR.login());
        builder.environment().put("PGPASSWORD", database.password());
        Process process = builder.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        return output.lines().toList();
    }
}
