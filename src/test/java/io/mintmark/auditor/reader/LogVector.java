package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.nimbusds.jose.jwk.ECKey;

import io.mintmark.audit.Event;
import io.mintmark.audit.Event.How;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.audit.log.PostgresRetirement;
import io.mintmark.auditor.verify.LogReader;
import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Makes the log of docs/audit-test-vector: {@code -Dvector.write=DIRECTORY}. Its keys are gone when
 * it is done.
 */
@EnabledIfSystemProperty(named = "vector.write", matches = ".+")
class LogVector {
    private static final Instant JANUARY = Instant.parse("2026-01-31T12:00:00Z");

    private final Path directory = Path.of(System.getProperty("vector.write", "."));
    private final ECKey second = Seals.key();

    @Test
    void the_log_is_made() throws Exception {
        Files.createDirectories(directory);
        Files.deleteIfExists(directory.resolve("log.jsonl"));
        try (TestDatabase database = TestDatabase.migrated();
                Database connections = new Database(database.login(Who.APP))) {
            database.run(Who.OWNER, "SELECT audit.create_partition('2026-01-01')");
            database.admin("INSERT INTO broker.tenant (name) VALUES ('acme'), ('other')");
            GrantedMints granted =
                    GrantedMints.since(database, JANUARY.minusSeconds(3600), january());
            PostgresEventStore one = new PostgresEventStore(connections, "replica-1/0a1b");
            PostgresEventStore two = new PostgresEventStore(connections, "replica-2/0c2d");
            for (String subject : january()) {
                one.append(granted.of(AuditRows.mintAt(JANUARY, subject)));
            }
            Seals.sealAt(database, JANUARY.plusSeconds(60));
            export(database);
            List<Event> withheld = texts(granted, one, two);
            assertEquals(
                    "replica-1/0a1b replica-2/0c2d",
                    database.value(
                                    "SELECT string_agg(DISTINCT chain || ' ' || broker, ' ') FROM audit.event")
                            .replaceAll("2\\.[0-9a-f-]+ ", ""),
                    "chains are exported in a random order; try again");
            database.admin(
                    "UPDATE broker.tenant SET display_name = 'Ac\u00e9me \"1\"' WHERE name ="
                            + " 'acme'");
            List<SignedCheckpoint> kept = new ArrayList<>();
            kept.add(Seals.seal(database));
            export(database);
            kept.add(
                    new PostgresRetirement(database.login(Who.OWNER), Duration.ofMinutes(1))
                            .retire(
                                    YearMonth.of(2026, 2),
                                    (unsealed, months) ->
                                            new SealingKeys(List.of(Seals.KEY))
                                                    .seal(unsealed, "audit retire", months))
                            .orElseThrow());
            for (int i = 0; i < 26; i++) {
                (i % 3 == 0 ? two : one)
                        .append(granted.of(AuditRows.mint("ci:" + i, "{\"ref\": \"main\"}")));
            }
            List<Event> ofTwo = granted.of(AuditRows.mint("ended by another", "{}"));
            two.append(ofTwo);
            one.append(List.of(AuditRows.ended(withheld, How.UNDONE)));
            one.append(List.of(AuditRows.ended(ofTwo, How.DISARMED)));
            LogVectorRequests requests = new LogVectorRequests(database);
            String ended = requests.asks("user:ann", false, "to mend incident 7");
            requests.approvesInBothSteps(ended);
            requests.withdraws(ended);
            requests.consents(requests.asks("user:eve", true, "to answer the mail"));
            String inSteps = requests.asks("user:ann", false, "to mend incident 8");
            String byConsent = requests.asks("user:eve", true, "to answer it again");
            Seals.seal(database, Seals.KEY, second);
            two.append(granted.of(AuditRows.mint("after the last checkpoint", "{}")));
            export(database);
            hashes();
            requests.consents(byConsent);
            export(database, "consent");
            requests.approvesInBothSteps(inSteps);
            export(database, "steps");
            requests.withdraws(inSteps);
            export(database, "withdrawal");
            LogVectorVariants.write(directory);
            keep(kept);
        }
    }

    private static String[] january() {
        return IntStream.range(0, 6).mapToObj(i -> "january-" + i).toArray(String[]::new);
    }

    /** What is easily hashed wrong. */
    private static List<Event> texts(
            GrantedMints granted, PostgresEventStore one, PostgresEventStore two) {
        one.append(
                granted.of(
                        AuditRows.mint(
                                "text:\\ \t\n\u0001\u00e9\ud83d\ude00 \\N",
                                "{\"a\":[1.50,\"\\\\\"]}")));
        one.append(
                granted.of(
                        AuditRows.mint(
                                "claims",
                                "{\"b\":{\"long\":null,\"s\":true},\"a\":[],\"\u00e9\":-0.00012345678901234567890}")));
        one.append(granted.of(AuditRows.mint("v6", "{}", "2001:db8::ffff", Instant.now())));
        one.append(granted.of(AuditRows.mint("v4", "{}", "203.0.113.9", Instant.now())));
        List<Event> withheld =
                granted.of(AuditRows.mint("deploy", "aws-sts", "ASIAWITHHELD", false));
        one.append(withheld);
        two.append(granted.of(AuditRows.failed("failed", "provider_timeout")));
        two.append(List.of(AuditRows.denied("stranger")));
        two.append(List.of(AuditRows.rejected()));
        one.append(granted.of(AuditRows.mint("unresolved", "{}")).subList(0, 1));
        return withheld;
    }

    private void export(TestDatabase database) throws Exception {
        export(database, "log");
    }

    /** Appends the rows that no file has yet. */
    private void export(TestDatabase database, String file) throws Exception {
        var ran =
                new AuditCommand(database, directory, Who.AUDITOR)
                        .run(
                                "export",
                                "--all",
                                "--state",
                                directory.resolve("state").toString(),
                                "--output",
                                directory.resolve(file + ".jsonl").toString());
        assertEquals(0, ran.status(), ran.errors());
    }

    private void hashes() throws Exception {
        List<String> lines = new ArrayList<>();
        lines.add("kind\tchain\tplace\tsha256 of the canonical form\thash");
        try (ExportedLog log =
                new ExportedLog(List.of(directory.resolve("log.jsonl")), new Seals.Found())) {
            log.events(
                    row -> row, (row, _) -> lines.add(hashes("event", CanonicalForm.EVENT, row)));
            log.changes(
                    row -> row, (row, _) -> lines.add(hashes("change", CanonicalForm.CHANGE, row)));
            log.checkpoints(row ->
                    lines.add(
                            "checkpoint\t\t%d\t\t%s"
                                    .formatted(row.signed().number(), row.signed().hash())));
        }
        Files.write(directory.resolve("hashes.tsv"), lines);
    }

    private static String hashes(String kind, CanonicalForm form, LogReader.Row row) {
        return "%s\t%s\t%d\t%s\t%s"
                .formatted(
                        kind,
                        row.chain() == null ? "" : row.chain(),
                        row.at(),
                        form.hash(row.fields()),
                        row.hash());
    }

    private void keep(List<SignedCheckpoint> kept) throws Exception {
        Files.write(
                directory.resolve("kept.jsonl"),
                kept.stream().map(SignedCheckpoint::line).toList());
        Files.writeString(
                directory.resolve("keys.pem"),
                "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n"
                        .formatted(
                                Base64.getMimeEncoder(64, new byte[] {'\n'})
                                        .encodeToString(Seals.KEY.toPublicKey().getEncoded())));
        for (String file :
                List.of(
                        "audit.pem",
                        "state",
                        "state.lock",
                        "consent.jsonl",
                        "steps.jsonl",
                        "withdrawal.jsonl")) {
            Files.delete(directory.resolve(file));
        }
    }
}
