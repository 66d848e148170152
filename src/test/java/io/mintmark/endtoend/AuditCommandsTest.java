package io.mintmark.endtoend;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.admin.cli.Commands;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.provider.sts.StsAnswer;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

class AuditCommandsTest {
    @AutoClose private static World world;

    @BeforeAll
    static void mintThings() {
        world = new World();
        world.broker().mint(world.token(), "api");
        world.broker().mint(world.token(), "deploy");
        world.broker().mint(world.token(), "spare");
        world.sts().next(new StsAnswer.Refusing(403, "AccessDenied", "no\u001b[2J"));
        world.broker().mint(world.token(), "deploy");
    }

    /** Runs a command as an auditor would; the exit status, and what it wrote. */
    private static Map.Entry<Integer, String> run(String... arguments) {
        return run(Who.AUDITOR, arguments);
    }

    private static Map.Entry<Integer, String> run(Who who, String... arguments) {
        return run(world, who, arguments);
    }

    private static Map<String, String> environment(World of, Who who) {
        Map<String, String> environment =
                new HashMap<>(RunningBroker.environment(of.database(), 1));
        environment.put("DATABASE_USERNAME", who.login());
        return environment;
    }

    static Map.Entry<Integer, String> run(World of, Who who, String... arguments) {
        return run(environment(of, who), arguments);
    }

    private static Map.Entry<Integer, String> run(
            Map<String, String> environment, String... arguments) {
        PrintStream before = System.out;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setOut(new PrintStream(written, true, StandardCharsets.UTF_8));
        try {
            int status = new Commands(environment, Path.of("")).execute(arguments);
            return Map.entry(status, written.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(before);
        }
    }

    private static String mintOf(String key) {
        return world.value("SELECT mint_id FROM audit.mint WHERE key = '%s'".formatted(key));
    }

    @Test
    void the_log_of_a_broker_that_runs_verifies() {
        Eventually.holds(() -> !world.column("SELECT number FROM audit.checkpoint").isEmpty());
        var result = run("audit", "verify");
        assertEquals(0, result.getKey(), result.getValue());
        assertShows(result.getValue(), "Nothing was changed up to checkpoint ");
        assertLacks(result.getValue(), "nothing is missing");
    }

    @Test
    void a_log_verifies_with_1_to_256_threads_and_other_numbers_are_refused(@TempDir Path directory)
            throws Exception {
        Eventually.holds(() -> !world.column("SELECT number FROM audit.checkpoint").isEmpty());
        for (String threads : List.of("1", "256")) {
            var result = run("audit", "verify", "--threads", threads);
            assertEquals(0, result.getKey(), result.getValue());
        }
        AuditCommand auditor = new AuditCommand(world.database(), directory, Who.AUDITOR);
        for (String threads : List.of("0", "-1", "257")) {
            AuditCommand.Ran ran = auditor.run("verify", "--threads", threads);
            assertEquals(1, ran.status());
            assertShows(
                    ran.errors(), "--threads: %s is not a number from 1 to 256".formatted(threads));
        }
        assertEquals(2, auditor.run("verify", "--threads", "many").status());
    }

    @Test
    void an_auditor_without_keys_is_asked_for_public_keys_and_not_to_make_one() {
        Map<String, String> own = environment(world, Who.AUDITOR);
        own.remove("AUDIT_SIGNING_KEY_FILE");
        PrintStream before = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        try {
            assertEquals(Map.entry(2, ""), run(own, "audit", "verify"));
        } finally {
            System.setErr(before);
        }
        String said = written.toString(StandardCharsets.UTF_8);
        assertTrue(
                said.startsWith("mintmark: AUDIT_SIGNING_KEY_FILE is not set; it must be a file"),
                said);
        assertShows(said, "Auditors use --keys FILE instead");
        assertLacks(said, "genpkey");
    }

    @Test
    void a_kept_checkpoint_that_is_newer_than_the_export_is_told_as_that(@TempDir Path directory)
            throws Exception {
        try (World other = new World()) {
            other.broker().mint(other.token(), "api");
            Eventually.holds(() ->
                    !other.database().column("SELECT number FROM audit.checkpoint").isEmpty());
            Path export = directory.resolve("log.jsonl");
            List<String> command =
                    List.of("audit", "export", "--all", "--state", directory.resolve("s") + "");
            var exported = run(other, Who.AUDITOR, command.toArray(String[]::new));
            Files.writeString(export, exported.getValue());
            other.database().run(Who.OWNER, "SELECT audit.create_partition('2026-01-01')");
            Path kept = directory.resolve("kept.jsonl");
            String newer =
                    run(other, Who.OWNER, "audit", "retire", "--before", "2026-02").getValue();
            Files.writeString(kept, newer);
            String[] verify = {
                "audit", "verify", "--export", export + "", "--checkpoints", kept + ""
            };
            var behind = run(other, Who.AUDITOR, verify);
            assertEquals(1, behind.getKey(), behind.getValue());
            long number = new ObjectMapper().readTree(newer).path("checkpoint").asLong();
            assertShows(
                    behind.getValue(),
                    ("Checkpoint %d, which was kept elsewhere, isn't in the export,"
                                    + " which ends with number ")
                            .formatted(number));
            Path eventsOnly = directory.resolve("events.jsonl");
            Files.writeString(eventsOnly, run(other, Who.AUDITOR, "audit", "export").getValue());
            var without =
                    run(
                            other,
                            Who.AUDITOR,
                            "audit",
                            "verify",
                            "--export",
                            eventsOnly + "",
                            "--checkpoints",
                            kept + "");
            assertShows(without.getValue(), "no checkpoint at all: write the export with --all");
            exported = run(other, Who.AUDITOR, command.toArray(String[]::new));
            Files.writeString(export, exported.getValue(), StandardOpenOption.APPEND);
            var continued = run(other, Who.AUDITOR, verify);
            assertEquals(0, continued.getKey(), continued.getValue());
        }
    }

    @Test
    void the_views_tell_who_made_the_grant_and_what_came_of_it() {
        world.assertRows(
                "SELECT concat_ws(' ', key, outcome, grant_made_by) FROM audit.mint"
                        + " WHERE key = 'deploy' ORDER BY mint_id",
                "deploy issued test_admin",
                "deploy failed test_admin");
        world.assertRows(
                "SELECT key || ' ' || outcome FROM audit.active_credential" + " ORDER BY key",
                "api issued",
                "deploy issued");
        world.assertRows("SELECT key || ' ' || reason FROM audit.denial", "spare not_granted");
        world.assertRows("SELECT mint_id FROM audit.unresolved");
        world.assertRows("SELECT grant_id FROM audit.unused_grant");
    }

    @Test
    void show_tells_the_story_of_a_mint_a_credential_and_a_subject() {
        String mint = mintOf("api");
        String story = run("audit", "show", "--mint", mint).getValue();
        assertTrue(story.startsWith("mint " + mint), story);
        assertShows(story, "made by test_admin");
        String credential =
                world.value(
                        "SELECT credential_id FROM audit.mint WHERE outcome = 'issued'"
                                + " AND key = 'deploy'");
        String ofCredential = run("audit", "show", "--credential", credential).getValue();
        assertShows(ofCredential, "ASIA");
        String all = run("audit", "show", "--subject", World.SUBJECT).getValue();
        String request =
                world.value("SELECT request_id FROM audit.mint WHERE mint_id = '" + mint + "'");
        String key = world.value("SELECT key FROM audit.mint WHERE mint_id = '" + mint + "'");
        assertShows(run("audit", "show", "--request", request).getValue(), "mint " + mint);
        assertShows(run("audit", "show", "--key", key).getValue(), "mint " + mint);
        assertEquals(1, run("audit", "show", "--key", "unknown").getKey());
        assertEquals(1, run("audit", "show", "--request", "unknown").getKey());
        assertEquals(3, all.lines().filter(line -> line.startsWith("mint ")).count(), all);
        assertShows(all, "denied");
        assertTrue(!all.contains("\u001b"), all);
        assertEquals(1, run("audit", "show", "--subject", "nobody").getKey());
    }

    @Test
    void export_writes_json_lines_or_csv_of_what_was_asked_for() throws Exception {
        String lines = run("audit", "export", "--key", "deploy").getValue();
        assertEquals(4, lines.lines().count(), lines);
        var first = new ObjectMapper().readTree(lines.lines().findFirst().orElseThrow());
        assertEquals("requested", first.path("kind").asText());
        String csv = run("audit", "export", "--format", "csv", "--tenant", "acme").getValue();
        assertTrue(csv.startsWith("mint_id,step,kind,occurred_at,"), csv);
        assertEquals(8, csv.lines().count(), csv);
        assertEquals("", run("audit", "export", "--to", "2026-01-01").getValue());
        assertEquals(1, run("audit", "export", "--tenant", "nobody").getKey());
        assertEquals(
                1, run("audit", "export", "--from", "2026-02-01", "--to", "2026-01-01").getKey());
        assertEquals(1, run("audit", "export", "--from", "yesterday").getKey());
    }

    @Test
    void an_export_that_fails_leaves_an_older_file_as_it_was(@TempDir Path directory)
            throws Exception {
        Path file = Files.writeString(directory.resolve("kept.jsonl"), "of last month");
        String output = file.toString();
        assertEquals(1, run("audit", "export", "--output", output, "--tenant", "typo").getKey());
        Map<String, String> unreachable = environment(world, Who.AUDITOR);
        unreachable.put("DATABASE_URL", "jdbc:postgresql://127.0.0.1:1/nothing");
        assertEquals(1, run(unreachable, "audit", "export", "--output", output).getKey());
        assertEquals("of last month", Files.readString(file));
        try (Stream<Path> files = Files.list(directory)) {
            assertEquals(List.of(file), files.toList());
        }
    }

    @Test
    void exports_can_be_read_by_their_owner_alone(@TempDir Path directory) throws Exception {
        Path once = directory.resolve("once.jsonl");
        Path resumed = directory.resolve("resumed.jsonl");
        Path state = directory.resolve("state");
        assertEquals(0, run("audit", "export", "--output", once.toString()).getKey());
        assertEquals(
                0,
                run("audit", "export", "--output", resumed.toString(), "--state", state.toString())
                        .getKey());
        assertTrue(Files.size(once) > 0);
        for (Path file : List.of(once, resumed, state)) {
            assertEquals(
                    "rw-------",
                    PosixFilePermissions.toString(Files.getPosixFilePermissions(file)),
                    file.toString());
        }
    }

    @Test
    void an_export_of_another_format_is_not_called_a_broken_log(@TempDir Path directory) {
        for (String format : List.of("csv", "ocsf")) {
            String file = directory.resolve("log." + format).toString();
            assertEquals(0, run("audit", "export", "--format", format, "--output", file).getKey());
            var result = run("audit", "verify", "--export", file);
            assertEquals(Map.entry(1, ""), result);
        }
    }

    @Test
    void show_narrows_by_tenant_outcome_and_time() {
        assertEquals(
                2, mints(run("audit", "show", "--key", "deploy", "--tenant", "acme").getValue()));
        assertEquals(
                1,
                mints(run("audit", "show", "--key", "deploy", "--outcome", "failed").getValue()));
        assertEquals(1, run("audit", "show", "--key", "deploy", "--tenant", "other").getKey());
        assertEquals(1, run("audit", "show", "--key", "deploy", "--to", "2026-01-01").getKey());
        assertEquals(
                2,
                mints(run("audit", "show", "--key", "deploy", "--from", "2026-01-01").getValue()));
        assertEquals(1, run("audit", "show", "--key", "deploy", "--outcome", "typo").getKey());
    }

    private static long mints(String shown) {
        return shown.lines().filter(line -> line.startsWith("mint ")).count();
    }

    @Test
    void show_tells_what_a_person_changed() {
        try (World other = new World()) {
            other.admin("UPDATE broker.subject_grant SET reason = 'ticket 7' WHERE key = 'api'");
            String changes =
                    run(other, Who.AUDITOR, "audit", "show", "--by", "test_admin", "--most", "1")
                            .getValue();
            assertShows(changes, "test_admin UPDATE subject_grant", "reason: - -> ticket 7");
            assertEquals(1, run(other, Who.AUDITOR, "audit", "show", "--by", "nobody").getKey());
        }
    }

    @Test
    void checkpoints_of_another_broker_among_the_kept_ones_are_told_once(@TempDir Path directory)
            throws Exception {
        Eventually.holds(() -> !world.column("SELECT number FROM audit.checkpoint").isEmpty());
        try (TestDatabase foreign = TestDatabase.migrated()) {
            List<String> lines = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                lines.add(Seals.seal(foreign).line());
            }
            lines.add(
                    world.value(
                            "SELECT json_build_object('checkpoint', number, 'sealed_at', sealed_at, 'jws', jws) FROM audit.checkpoint WHERE number = 1"));
            Path kept = Files.write(directory.resolve("kept.jsonl"), lines);
            var result = run("audit", "verify", "--checkpoints", kept.toString());
            assertEquals(0, result.getKey(), result.getValue());
            assertShows(result.getValue(), "note: 20 of the checkpoints kept elsewhere are signed");
            assertShows(result.getValue(), "nothing is missing up to checkpoint 1.");
        }
    }

    @Test
    void show_tells_a_grants_reason_and_only_changes_that_there_were() {
        try (World other = new World()) {
            other.broker().mint(other.token(), "api");
            String story =
                    run(other, Who.AUDITOR, "audit", "show", "--subject", World.SUBJECT).getValue();
            assertLacks(story, "last changed", "because");
            other.admin("UPDATE broker.subject_grant SET reason = 'ticket 7' WHERE key = 'api'");
            // a decision that was made before and still holds names the revision of before
            Eventually.holds(() ->
                    other.broker().mint(other.token(), "api").status() == 200
                            && run(other, Who.AUDITOR, "audit", "show", "--subject", World.SUBJECT)
                                    .getValue()
                                    .contains("because: ticket 7"));
            String changed =
                    run(other, Who.AUDITOR, "audit", "show", "--subject", World.SUBJECT).getValue();
            assertShows(changed, "last changed by test_admin");
        }
    }

    @Test
    void what_is_no_mint_id_is_told_in_our_words() {
        PrintStream before = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        try {
            assertEquals(1, run("audit", "show", "--mint", "foo").getKey());
        } finally {
            System.setErr(before);
        }
        String said = written.toString(StandardCharsets.UTF_8);
        assertTrue(said.startsWith("mintmark: --mint: 'foo' is not a mint id"), said);
    }

    @Test
    void what_one_export_left_out_the_next_one_has() throws Exception {
        String all = run("audit", "export").getValue();
        var rows = new ArrayList<JsonNode>();
        for (String line : all.lines().toList()) {
            rows.add(new ObjectMapper().readTree(line));
        }
        // between the intent of a mint and its outcome
        String between =
                rows.stream()
                        .filter(row -> row.path("kind").asText().equals("issued"))
                        .map(row -> Instant.parse(row.path("occurred_at").asText()).toString())
                        .findFirst()
                        .orElseThrow();
        List<String> first = run("audit", "export", "--to", between).getValue().lines().toList();
        List<String> then = run("audit", "export", "--from", between).getValue().lines().toList();
        List<String> both = new ArrayList<>(first);
        both.addAll(then);
        assertEquals(all.lines().sorted().toList(), both.stream().sorted().toList());
        assertTrue(then.stream().noneMatch(line -> first.contains(line)));
    }

    @Test
    void checkpoints_that_prove_nothing_do_not_look_like_a_proof(@TempDir Path directory)
            throws Exception {
        Path file = directory.resolve("kept.jsonl");
        assertEquals(1, run("audit", "verify", "--checkpoints", file.toString()).getKey());
        Files.writeString(file, "");
        assertEquals(1, run("audit", "verify", "--checkpoints", file.toString()).getKey());
        Files.write(file, new byte[] {(byte) 0xff, '\n', '{', '\n'});
        assertEquals(1, run("audit", "verify", "--checkpoints", file.toString()).getKey());
        Eventually.holds(() -> !world.column("SELECT number FROM audit.checkpoint").isEmpty());
        Files.writeString(
                file,
                world.value(
                                "SELECT json_build_object('checkpoint', number, 'sealed_at',"
                                        + " sealed_at, 'jws', jws) FROM audit.checkpoint LIMIT 1")
                        + "\n");
        var proof = run("audit", "verify", "--checkpoints", file.toString());
        assertEquals(0, proof.getKey(), proof.getValue());
        assertShows(proof.getValue(), "kept elsewhere is number 1 of");
    }

    @Test
    void a_month_is_retired_by_the_owner_with_a_checkpoint_that_verify_tells_of() throws Exception {
        Eventually.holds(() -> !world.column("SELECT number FROM audit.checkpoint").isEmpty());
        world.database().run(Who.OWNER, "SELECT audit.create_partition('2026-01-01')");
        assertEquals(1, run(Who.AUDITOR, "audit", "retire", "--before", "2026-02").getKey());
        assertEquals(1, run(Who.OWNER, "audit", "retire", "--before", "soon").getKey());
        var retired = run(Who.OWNER, "audit", "retire", "--before", "2026-02");
        assertEquals(0, retired.getKey(), retired.getValue());
        var line = new ObjectMapper().readTree(retired.getValue());
        assertTrue(line.path("checkpoint").asLong() > 1, retired.getValue());
        var verified = run("audit", "verify");
        assertEquals(0, verified.getKey(), verified.getValue());
        assertShows(verified.getValue(), "note: 2026-01 was retired by checkpoint");
        var nothing = run(Who.OWNER, "audit", "retire", "--before", "2026-02");
        assertEquals(0, nothing.getKey());
        assertEquals("", nothing.getValue());
    }

    @Test
    void a_log_that_was_changed_is_not_verified_and_the_row_is_named() {
        try (World other = new World()) {
            other.broker().mint(other.token(), "api");
            other.database()
                    .runAsSuperuser(
                            """
                            DO $$
                            DECLARE
                                armed regclass;
                            BEGIN
                                FOR armed IN SELECT tgrelid FROM pg_trigger WHERE tgname = 'is_append_only' LOOP
                                    EXECUTE format('ALTER TABLE %s DISABLE TRIGGER is_append_only', armed);
                                END LOOP;
                                UPDATE audit.event SET subject = 'somebody' WHERE step = 2;
                            END $$
                            """);
            var verified = run(other, Who.AUDITOR, "audit", "verify");
            assertEquals(1, verified.getKey(), verified.getValue());
            String mint = other.database().value("SELECT mint_id FROM audit.event WHERE step = 2");
            assertShows(verified.getValue(), "WRONG: Step 2 of mint %s (row 2 of".formatted(mint));
        }
    }
}
