package io.mintmark.auditor.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.audit.Event;
import io.mintmark.audit.log.LogFeed;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.auditor.witness.TestWitness;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditCommand.Ran;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.Consumer;

/** {@code mintmark audit prove}, checked by docs/verify.py, which gets no database. */
@Tag("heavy")
class ReceiptTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MOST_BYTES = 8 * 1024;

    /** Changes each byte once, asks each time, and reports the bytes whose change isn't found. */
    private static final String EVERY_BYTE =
            """
            import functools, sys, verify
            verify.keys_of(sys.argv[2], verify.trusted)
            policy = verify.read_policy(sys.argv[3]) if sys.argv[3:] else None
            verify.signed = functools.lru_cache(None)(verify.signed)
            verify.signs = functools.lru_cache(None)(verify.signs)
            receipt = open(sys.argv[1], "rb").read()
            for at in range(len(receipt)):
                changed = bytearray(receipt)
                changed[at] ^= 1 << at % 7
                try:
                    list(verify.read_receipt(bytes(changed), policy))
                    print("byte", at, "was changed unseen")
                except verify.Unproven:
                    pass
            list(verify.read_receipt(receipt, policy))
            print("asked", len(receipt), "times")
            """;

    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.migrated();
    private Path file = Path.of("");

    @BeforeEach
    void write() {
        file = directory.resolve("receipt.json");
    }

    /** A mint among others, all sealed. */
    private Event mint() {
        GrantedMints granted = new GrantedMints(database);
        try (Database connections = new Database(database.login(Who.APP))) {
            PostgresEventStore store = new PostgresEventStore(connections, "here/1");
            PostgresEventStore other = new PostgresEventStore(connections, "here/2");
            Seals.noted(database);
            List<Event> mint = granted.of(AuditRows.mint("repo:acme/app", "{\"ref\": \"é\"}"));
            other.append(granted.of(AuditRows.mint("other:subject", "{}")));
            store.append(granted.of(AuditRows.mint("third:subject", "{}")));
            store.append(mint.subList(0, 1));
            Seals.noted(database);
            store.append(mint.subList(1, 2));
            other.append(granted.of(AuditRows.mint("fourth:subject", "{}")));
            Seals.noted(database);
            return mint.getFirst();
        }
    }

    private Ran prove(String mint) throws Exception {
        return new AuditCommand(database, directory, Who.AUDITOR)
                .run("prove", mint, "--output", file.toString());
    }

    private Event proven() throws Exception {
        Event mint = mint();
        Ran ran = prove(mint.mintId().toString());
        assertEquals(0, ran.status(), ran.errors());
        return mint;
    }

    private String check(int status, String... more) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(file.toString()));
        arguments.addAll(List.of(more));
        Script script = new Script(directory, null);
        assertEquals(status, script.status(Path.of("--receipt"), arguments), script::output);
        return script.output();
    }

    private String checkTrusting(int status, String... more) throws Exception {
        List<String> arguments =
                new ArrayList<>(List.of("--key", directory.resolve("keys.pem").toString()));
        arguments.addAll(List.of(more));
        return check(status, arguments.toArray(String[]::new));
    }

    private String checkDemanding(int status, Path policy) throws Exception {
        return checkTrusting(status, "--policy", policy.toString());
    }

    private void change(Consumer<ObjectNode> edit) throws Exception {
        ObjectNode receipt = (ObjectNode) JSON.readTree(file.toFile());
        edit.accept(receipt);
        Files.writeString(file, receipt.toString().replace("\u2014", "\\u2014") + "\n");
    }

    @Test
    void a_receipt_proves_a_mint_and_its_grant_and_shows_nobody_else() throws Exception {
        Event mint = proven();
        String said = checkTrusting(0);
        assertTrue(
                said.contains(
                        "Mint %s: key deploy of tenant acme, for repo:acme/app"
                                .formatted(mint.mintId())),
                said);
        assertTrue(said.contains("requested at ") && said.contains("issued at "), said);
        assertTrue(said.contains("  subject_grant ") && said.contains(": INSERT by "), said);
        assertTrue(
                said.contains("in the tree of the log log.example/audit/1 with 3 checkpoints"),
                said);
        String receipt = Files.readString(file);
        assertTrue(receipt.length() < MOST_BYTES, () -> receipt.length() + " bytes");
        StringBuilder rows = new StringBuilder();
        for (JsonNode row : JSON.readTree(receipt).path("rows")) {
            rows.append(
                    new String(
                            Base64.getDecoder().decode(row.path("row").textValue()),
                            StandardCharsets.UTF_8));
        }
        assertTrue(rows.toString().contains("repo:acme/app"));
        assertFalse(
                rows.toString().matches("(?s).*(other|third|fourth):subject.*"),
                "other mints are only hashes");
    }

    @Test
    void every_changed_byte_is_found() throws Exception {
        proven();
        var _ = checkTrusting(0);
        everyByte();
    }

    @Test
    void every_changed_byte_of_a_cosigned_receipt_is_found() throws Exception {
        Path policy = cosigned("group both all one two\nquorum both\n");
        var _ = checkDemanding(0, policy);
        everyByte(policy.toString());
    }

    private void everyByte(String... policy) throws Exception {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "python3",
                                "-c",
                                EVERY_BYTE,
                                file.toString(),
                                directory.resolve("keys.pem").toString()));
        command.addAll(List.of(policy));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("PYTHONPATH", "docs");
        builder.environment().put("PYTHONPYCACHEPREFIX", "target/python");
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        assertEquals("asked %d times\n".formatted(Files.size(file)), said);
    }

    private String byThePage(int status) throws Exception {
        String page = Files.readString(Path.of("docs/audit/receipts.md"));
        String code = page.substring(page.indexOf("```python\n") + "```python\n".length());
        String script = code.substring(0, code.indexOf("```"));
        assertTrue(script.lines().count() <= 40, script);
        Process process =
                new ProcessBuilder(
                                "python3",
                                "-c",
                                script,
                                file.toString(),
                                directory.resolve("keys.pem").toString())
                        .redirectErrorStream(true)
                        .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(status, process.waitFor(), said);
        return said;
    }

    @Test
    void the_script_of_the_page_proves_the_rows_and_finds_a_changed_one() throws Exception {
        proven();
        var _ = checkTrusting(0);
        String whole = Files.readString(file);
        assertTrue(byThePage(0).contains("repo:acme/app"));

        change(receipt -> {
            ObjectNode row = (ObjectNode) receipt.path("rows").path(0);
            byte[] content = Base64.getDecoder().decode(row.path("row").textValue());
            content[content.length - 2] ^= 1;
            row.put("row", Base64.getEncoder().encodeToString(content));
        });
        assertTrue(byThePage(1).contains("doesn't seal one of the rows"));

        Files.writeString(file, whole);
        change(receipt -> {
            ArrayNode checkpoints = (ArrayNode) receipt.path("checkpoints");
            String other = checkpoints.path(1).textValue();
            String signature = other.substring(other.lastIndexOf('.'));
            String jws = checkpoints.path(0).textValue();
            checkpoints.set(0, jws.substring(0, jws.lastIndexOf('.')) + signature);
        });
        assertTrue(byThePage(1).contains("openssl"));
    }

    /** A receipt that two witnesses cosigned, and a policy with them. */
    private Path cosigned(String quorum) throws Exception {
        Event mint = mint();
        try (TestWitness one = new TestWitness(directory, "one");
                TestWitness two = new TestWitness(directory, "two")) {
            assertEquals(200, one.ask(database));
            Seals.noted(database);
            Seals.noted(database);
            assertEquals(200, one.ask(database));
            assertEquals(200, two.ask(database));
            Seals.noted(database);
            assertEquals(200, two.ask(database));
            assertEquals(0, prove(mint.mintId().toString()).status());
            return Files.writeString(
                    directory.resolve("policy"),
                    TestWitness.log() + one.line() + two.line() + quorum);
        }
    }

    @Test
    void a_receipt_has_the_first_note_that_most_witnesses_cosigned() throws Exception {
        Path policy = cosigned("group both all one two\nquorum both\n");
        assertTrue(Files.size(file) < MOST_BYTES, () -> file.toFile().length() + " bytes");
        String said = checkTrusting(0);
        assertTrue(said.contains("log.example/audit/1 with 5 checkpoints"), said);
        assertTrue(said.contains("it has 2 cosignatures, which only --policy checks"), said);
        String proven = checkDemanding(0, policy);
        assertTrue(proven.contains("  cosigned by one at "), proven);
        assertTrue(proven.contains("  cosigned by two at "), proven);
    }

    @Test
    void a_receipt_without_the_quorum_proves_nothing() throws Exception {
        Path policy = cosigned("quorum two\n");
        String whole = Files.readString(policy);
        var _ = checkDemanding(0, policy);
        Files.writeString(
                policy,
                whole.replaceAll("witness two .*\n", "").replace("quorum two", "quorum one"));
        String said = checkDemanding(0, policy);
        assertTrue(
                said.contains("1 cosignatures were made by keys that the policy doesn't list"),
                said);
        Files.writeString(
                policy,
                whole.replace(
                        Seals.NOTES.key(1).text(),
                        new NoteKey("other/audit/1", NoteKey.Type.NOTE, Seals.NOTES.published())
                                .text()));
        assertTrue(checkDemanding(1, policy).contains("the policy lacks its log"));
        Files.writeString(policy, whole);
        change(receipt -> {
            String note = receipt.path("note").textValue();
            receipt.put("note", note.replaceAll("\u2014 two.*\n", ""));
        });
        assertTrue(checkDemanding(1, policy).contains("lacks the quorum"));
        change(receipt -> receipt.remove(List.of("note", "leaves")));
        assertTrue(checkDemanding(1, policy).contains("has no note"));
    }

    @Test
    void a_receipt_of_a_time_after_its_cosignature_proves_nothing() throws Exception {
        Event mint = mint();
        try (TestWitness one = new TestWitness(directory, "one")) {
            assertEquals(200, one.ask(database, Instant.now().minus(Duration.ofMinutes(6))));
            assertEquals(0, prove(mint.mintId().toString()).status());
            Path policy =
                    Files.writeString(
                            directory.resolve("policy"),
                            TestWitness.log() + one.line() + "quorum one\n");
            assertTrue(checkDemanding(1, policy).contains("a time after a witness cosigned it"));
        }
    }

    @Test
    void a_checkpoint_that_is_not_the_kept_one_proves_nothing() throws Exception {
        proven();
        Path kept = directory.resolve("kept.jsonl");
        List<String> lines = new ArrayList<>();
        try (LogFeed feed = new LogFeed(database.login(Who.AUDITOR))) {
            feed.checkpoints(0, signed -> lines.add(signed.line()));
        }
        Files.write(kept, lines);
        assertTrue(
                checkTrusting(0, "--kept", kept.toString())
                        .contains("2 of its 2 checkpoints are among those that were kept"));
        Files.writeString(kept, lines.get(2).replace("\"checkpoint\":3", "\"checkpoint\":2"));
        assertTrue(
                checkTrusting(1, "--kept", kept.toString())
                        .contains("checkpoint 2 isn't the one that was kept"));
    }

    @Test
    void a_mint_whose_checkpoints_have_no_note_has_a_receipt_without_it() throws Exception {
        Event mint = mint();
        Seals.seal(database);
        try (Database connections = new Database(database.login(Who.APP))) {
            List<Event> bare = new GrantedMints(database).of(AuditRows.mint("bare:subject", "{}"));
            new PostgresEventStore(connections, "here/3").append(bare);
            Seals.seal(database);
            assertEquals(0, prove(bare.getFirst().mintId().toString()).status());
        }
        assertFalse(Files.readString(file).contains("\"note\""));
        assertFalse(checkTrusting(0).contains("in the tree of the log"));
        Files.delete(file);
        assertEquals(0, prove(mint.mintId().toString()).status());
        assertTrue(checkTrusting(0).contains("in the tree of the log"));
    }

    @Test
    void without_a_key_to_trust_the_reader_compares_its_fingerprint() throws Exception {
        proven();
        String said = check(3);
        assertTrue(said.contains("compare the key above"), said);
        assertTrue(said.contains("key " + Seals.KEY.computeThumbprint()), said);
    }

    @Test
    void a_receipt_of_another_key_proves_nothing() throws Exception {
        proven();
        Path other =
                Files.writeString(
                        directory.resolve("other.pem"),
                        "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n"
                                .formatted(
                                        Base64.getEncoder()
                                                .encodeToString(
                                                        Seals.key().toPublicKey().getEncoded())));
        String said = check(1, "--key", other.toString());
        assertTrue(said.contains("which isn't trusted"), said);
    }

    @Test
    void a_receipt_that_was_made_of_true_parts_of_others_is_found() throws Exception {
        proven();
        String whole = Files.readString(file);
        change(receipt -> ((ArrayNode) receipt.path("rows")).remove(0));
        assertTrue(checkTrusting(1).contains("a change that the mint doesn't name"));

        Files.writeString(file, whole);
        change(receipt -> ((ObjectNode) receipt.path("rows").path(0)).put("checkpoint", 1));
        assertTrue(checkTrusting(1).contains("doesn't seal one of its rows"));

        Files.writeString(file, whole);
        change(receipt -> {
            ArrayNode rows = (ArrayNode) receipt.path("rows");
            rows.insert(0, rows.remove(1));
        });
        assertTrue(checkTrusting(1).contains("its steps aren't in order"));

        Files.writeString(file, whole);
        change(receipt -> ((ObjectNode) receipt.path("leaves").path(0)).put("index", 0));
        assertTrue(checkTrusting(1).contains("isn't in the tree of the note"));

        Files.writeString(file, whole);
        change(receipt -> ((ArrayNode) receipt.path("leaves")).removeAll());
        assertTrue(checkTrusting(1).contains("proves nothing"));

        Files.writeString(file, whole);
        change(receipt -> receipt.put("more", 1));
        assertTrue(checkTrusting(1).contains("isn't a receipt that mintmark audit prove wrote"));
    }

    @Test
    void a_mint_that_no_checkpoint_seals_or_that_is_not_there_has_no_receipt() throws Exception {
        Event mint = mint();
        try (Database connections = new Database(database.login(Who.APP))) {
            List<Event> late = new GrantedMints(database).of(AuditRows.mint("late:subject", "{}"));
            new PostgresEventStore(connections, "here/3").append(late);
            Ran ran = prove(late.getFirst().mintId().toString());
            assertEquals(1, ran.status());
            assertTrue(ran.errors().contains("isn't sealed yet"), ran.errors());
        }
        Ran missing = prove(mint.mintId().toString().replaceFirst(".{12}$", "000000000000"));
        assertEquals(1, missing.status());
        assertTrue(missing.errors().contains("the audit log has no mint"), missing.errors());
        Ran odd = prove("42");
        assertTrue(odd.errors().contains("is not a mint id"), odd.errors());
        assertFalse(Files.exists(file), "no file is left of an attempt");
    }

    @Test
    void a_row_that_was_changed_since_has_no_receipt() throws Exception {
        Event mint = mint();
        database.runAsSuperuser(
                """
                DO $$
                DECLARE
                    armed regclass;
                BEGIN
                    FOR armed IN SELECT tgrelid FROM pg_trigger WHERE tgname = 'is_append_only' LOOP
                        EXECUTE format('ALTER TABLE %s DISABLE TRIGGER is_append_only', armed);
                    END LOOP;
                END $$;
                UPDATE log.event SET hash = sha256(hash) WHERE subject = 'repo:acme/app' AND step = 1
                """);
        Ran ran = prove(mint.mintId().toString());
        assertEquals(1, ran.status());
        assertTrue(ran.errors().contains("run audit verify"), ran.errors());
    }
}
