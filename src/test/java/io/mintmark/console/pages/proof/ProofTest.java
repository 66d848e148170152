package io.mintmark.console.pages.proof;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.ECKey;

import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.SealedRows;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.pages.ConsoleWorld;
import io.mintmark.console.verification.Finding;
import io.mintmark.console.verification.Proof;
import io.mintmark.console.verification.ProofRun;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A verification in the background, as pages show it. */
class ProofTest {
    @AutoClose private static TestDatabase written;
    @AutoClose private TestDatabase database;
    private ConsoleWorld world;

    @BeforeAll
    static void write() {
        written = TestDatabase.migrated();
        written.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('acme');
                INSERT INTO broker.console_access (tenant, all_tenants, claim, value)
                VALUES (NULL, true, 'role', '"auditor"'), ('acme', false, 'groups', '"acme-leads"')
                """);
        SealedRows.write(written, 20);
    }

    @BeforeEach
    void setUp() {
        database = written.copy();
        world =
                database.closing(
                        new ConsoleWorld(
                                database.login(Who.CONSOLE), Optional.of(SealedRows::trusted)));
    }

    @Test
    void an_untouched_log_is_proven() {
        world.post("auditor", "/proof");

        String page = ended();

        assertShows(
                page,
                "Nothing was changed up to checkpoint 1, as this database has it.</p>\n"
                        + "<p>The database's owner could have removed the newest rows",
                "<a href=\"/history\">of rows without a tenant</a>");
        assertTrue(
                page.indexOf("Nothing was changed") < page.indexOf("The log begins"),
                "the verdict comes first");
        assertShows(page, "mintmark audit evidence --from ");
        assertFalse(page.contains("http-equiv=\"refresh\""), "it has ended");
        assertTrue(page.contains("40 events"), page);
        assertShows(page, "Proven: all rows that this verification read, up to the last");
        assertLacks(page, "from the log's first row");
        Matcher end = Pattern.compile("audit evidence --from \\S+ --to (\\S+) ").matcher(page);
        assertTrue(end.find(), page);
        assertFalse(Instant.parse(end.group(1)).isAfter(Instant.now()), end.group(1));
        assertFalse(page.contains("Not verified"), page);
        assertTrue(page.contains("audrey@audit.example"), page);
    }

    @Test
    void before_a_verification_the_page_says_that_there_was_none_and_what_is_covered() {
        String page = world.get("auditor", "/proof").body();

        assertTrue(page.contains("Not verified yet"), page);
        assertTrue(page.contains("The log begins"), page);
        assertTrue(page.contains("Sealed up to"), page);
        assertFalse(page.contains("Proven: all"), page);
    }

    /** Partitions of indexes have a number of rows, too. */
    @Test
    void the_estimate_of_rows_is_that_of_the_tables() {
        database.runAsSuperuser("ANALYZE");
        String rows = database.value("SELECT 40 + count(*) FROM audit.config_change");

        assertShows(
                world.page("auditor", "/proof"),
                "There are about %s rows by the database's own estimate".formatted(rows),
                "<span class=\"unverified\">Not verified yet</span>");
    }

    @Test
    void rows_that_no_checkpoint_covers_yet_are_counted() {
        String before = world.get("auditor", "/proof").body();
        assertTrue(before.contains("<dd>0 rows"), before);

        database.runAsSuperuser(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, reason, detail, broker)
                SELECT overlay(audit.first_mint_id(clock_timestamp())::text PLACING '7' FROM 15 FOR 1)::uuid, 2, 'rejected',
                       clock_timestamp(), 'overflow', '3', 'b'
                """);

        String page = world.get("auditor", "/proof").body();
        assertTrue(page.contains("<dd>1 row "), page);
    }

    @Test
    void what_came_since_the_verification_and_how_many_it_looked_at_is_told() {
        world.post("auditor", "/proof");
        long looked =
                Long.parseLong(database.value("SELECT 40 + count(*) FROM audit.config_change"));
        ended();
        String before = world.page("auditor", "/proof");

        SealedRows.write(database, 3);

        String after = world.page("auditor", "/proof");
        assertShows(before, "The last one read " + looked + " rows");
        assertShows(after, "up to checkpoint 1,", "by checkpoint 2<");
        assertEquals(since(before) + 6, since(after));
    }

    private static long since(String page) {
        Matcher rows = Pattern.compile("began</dt><dd>([0-9]+) rows? ").matcher(page);
        assertTrue(rows.find(), page);
        return Long.parseLong(rows.group(1));
    }

    @Test
    void checkpoints_go_on_by_number_each_with_its_key_and_its_hash() {
        for (int i = 0; i < 21; i++) {
            SealedRows.write(database, 1);
        }
        String hash =
                database.value(
                        "SELECT encode(sha256(convert_to(jws, 'UTF8')), 'hex') FROM"
                                + " audit.checkpoint WHERE number = 2");

        String first = world.page("auditor", "/proof");
        String second = world.page("auditor", "/proof?before=3");

        assertShows(first, "/proof?before=3#checkpoints", "checkpoint </span>22<");
        assertLacks(first, hash);
        assertShows(
                second,
                hash,
                SealedRows.trusted().ids().getFirst(),
                "/proof/checkpoints?before=3",
                "by checkpoint 22<");
        assertLacks(second, "rel=\"next\"");
    }

    @Test
    void each_checkpoint_shows_whether_its_signature_is_valid() {
        SealedRows.write(database, 1);
        String valid = world.page("auditor", "/proof");
        database.runAsSuperuser("ALTER TABLE log.checkpoint DISABLE TRIGGER is_append_only");
        database.runAsSuperuser(
                "UPDATE audit.checkpoint SET jws = (SELECT jws FROM audit.checkpoint WHERE number ="
                        + " 1) WHERE number = 2");

        String page = world.page("auditor", "/proof");

        assertEquals(2, valid.split("</span> valid</span>", -1).length - 1, valid);
        assertEquals(1, page.split("</span> valid</span>", -1).length - 1, page);
        assertShows(
                page,
                "</span> wrong</strong><br><small>has another number in its signed content: 1</small>");
    }

    @Test
    void a_checkpoint_of_an_announced_key_is_valid_and_one_of_an_unknown_key_is_not() {
        ECKey next = Seals.key();
        Seals.seal(database, Seals.KEY, next);
        Seals.seal(database, next);
        assertLacks(world.page("auditor", "/proof"), "</span> wrong</strong>");

        Seals.seal(database, Seals.key());

        assertShows(world.page("auditor", "/proof"), "is signed by key", "which is not trusted");
    }

    @Test
    void the_page_says_since_when_the_same_key_signs() throws JOSEException {
        String since = "Signed by the same key since";
        assertShows(signer(), SealedRows.trusted().ids().getFirst().substring(0, 8) + "…");

        ECKey next = Seals.key();
        Seals.seal(database, Seals.KEY, next);
        Seals.seal(database, next);
        assertShows(signer(), next.computeThumbprint().toString().substring(0, 8) + "…");

        Seals.seal(database, Seals.key());
        assertLacks(world.page("auditor", "/proof"), since);
    }

    private String signer() {
        String page = world.page("auditor", "/proof");
        int start = page.indexOf("Signed by the same key since");
        assertTrue(start > 0, page);
        return page.substring(start, page.indexOf("</dd>", start));
    }

    @Test
    void checkpoints_that_nobody_announced_say_nothing_about_the_age_of_their_key() {
        Seals.seal(database, Seals.key());

        assertLacks(world.page("auditor", "/proof"), "Signed by the same key since");
    }

    @Test
    void the_file_of_checkpoints_is_what_a_verification_takes() {
        SealedRows.write(database, 1);

        HttpResponse<String> file = world.get("auditor", "/proof/checkpoints");

        assertTrue(
                file.headers()
                        .firstValue("Content-Disposition")
                        .orElseThrow()
                        .matches("attachment; filename=\"checkpoints-[0-9-]{10}\\.jsonl\""));
        assertEquals(
                database.column("SELECT jws FROM audit.checkpoint ORDER BY number DESC"),
                file.body()
                        .lines()
                        .map(line -> SignedCheckpoint.in(line).orElseThrow().jws())
                        .toList());
        assertEquals(
                List.of(1L),
                world.get("auditor", "/proof/checkpoints?before=2")
                        .body()
                        .lines()
                        .map(line -> SignedCheckpoint.in(line).orElseThrow().number())
                        .toList());
    }

    /** With the file that the page offers, and with the operators' public keys. */
    @Test
    void the_shown_command_verifies_the_log_as_it_is_pasted(@TempDir Path directory)
            throws Exception {
        AuditCommand auditor = new AuditCommand(database, directory, Who.AUDITOR);
        HttpResponse<String> file = world.get("auditor", "/proof/checkpoints");
        Files.writeString(
                directory.resolve(
                        file.headers()
                                .firstValue("Content-Disposition")
                                .orElseThrow()
                                .replaceAll(".*\"(.*)\"", "$1")),
                file.body());
        Files.writeString(
                directory.resolve("trusted.pem"),
                "-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n"
                        .formatted(
                                Base64.getMimeEncoder()
                                        .encodeToString(Seals.KEY.toECPublicKey().getEncoded())));
        Matcher command =
                Pattern.compile("<code>mintmark audit (verify [^<]*)</code>")
                        .matcher(world.page("auditor", "/proof"));
        assertTrue(command.find());

        AuditCommand.Ran ran =
                auditor.run(
                        Pattern.compile("(?<=--(?:keys|checkpoints) )\\S+")
                                .matcher(command.group(1))
                                .replaceAll(name -> directory.resolve(name.group()).toString())
                                .split(" "));

        assertEquals(0, ran.status(), ran.errors());
        assertShows(
                ran.output(), "Nothing was changed, and nothing is missing up to checkpoint 1.");
    }

    @Test
    void a_bar_shows_how_far_the_log_is_verified_and_sealed_in_the_words_of_the_verification() {
        assertShows(
                world.page("auditor", "/proof"),
                "role=\"img\" aria-label=\"The log begins ",
                ". Not verified yet. Sealed up to ",
                "<rect class=\"verified\" x=\"0\" y=\"0\" width=\"0.00%\"");

        world.post("auditor", "/proof");
        String clean = ended();
        assertShows(
                clean,
                ". Nothing was changed up to checkpoint 1, as this database has it (",
                "<span class=\"legend verified\">Nothing was changed up to checkpoint 1, as this database has it (");
        assertLacks(clean, "<rect class=\"verified\" x=\"0\" y=\"0\" width=\"0.00%\"");

        alter("'mallory'");
        world.post("auditor", "/proof");
        assertShows(
                ended(),
                ". The log is NOT intact. Sealed up to ",
                "<rect class=\"verified\" x=\"0\" y=\"0\" width=\"0.00%\"");
    }

    @Test
    void who_leads_a_tenant_gets_no_file_of_checkpoints() {
        HttpResponse<String> answer = world.get("lead", "/proof/checkpoints");

        assertEquals(403, answer.statusCode());
        assertLacks(answer.body(), "jws");
    }

    /** As the owner of the database could. */
    private void alter(String subject) {
        database.alterLog("UPDATE audit.event SET subject = %s WHERE seq = 7".formatted(subject));
    }

    private String altered() {
        return database.value("SELECT mint_id FROM audit.event WHERE seq = 7");
    }

    @Test
    void a_changed_row_is_found() {
        alter("'somebody else'");

        world.post("auditor", "/proof");
        String page = ended();

        assertShows(
                page,
                "verdict bad\">The log is NOT intact.",
                "<a href=\"/mints/%1$s\">mint %1$s</a>".formatted(altered()),
                "was changed: its hash");
        assertLacks(page, "Proven: all");
    }

    @Test
    void a_failed_verification_is_shown_on_every_page_until_one_passes() {
        List<String> everywhere =
                List.of(
                        "/",
                        "/mints",
                        "/mints/" + altered(),
                        "/subjects",
                        "/tenants",
                        "/tenants/acme",
                        "/tenants/acme/history",
                        "/explain",
                        "/nothing");
        String subject =
                database.value("SELECT quote_nullable(subject) FROM audit.event WHERE seq = 7");
        alter("'somebody else'");
        world.post("auditor", "/proof");
        ended();

        for (String path : everywhere) {
            assertShows(
                    world.get("auditor", path).body(),
                    "Verification failed: the audit log is not intact.",
                    "<a href=\"/proof#findings\">See the findings</a>");
            assertShows(
                    world.get("lead", path).body(),
                    "Verification failed: the audit log is not intact.",
                    "Ask an auditor");
            assertLacks(world.get("lead", path).body(), "/proof#findings");
        }
        assertShows(world.page("auditor", "/"), "<strong>verification failed</strong>");
        assertShows(world.page("auditor", "/mints"), "failed verification</strong>");
        assertShows(
                world.page("auditor", "/mints/" + altered()), "This record failed verification.");

        alter(subject);
        world.post("auditor", "/proof");
        ended();

        for (String path : everywhere) {
            assertLacks(world.get("auditor", path).body(), "failed verification", "NOT as it");
        }
        assertShows(world.page("auditor", "/"), "; verified ");
    }

    @Test
    void an_overview_says_that_nothing_was_verified_yet() {
        assertShows(world.page("auditor", "/"), "not verified yet");
    }

    /** Another console on the same database, as after a restart. */
    private ConsoleWorld restarted() {
        return database.closing(
                new ConsoleWorld(database.login(Who.CONSOLE), Optional.of(SealedRows::trusted)));
    }

    @Test
    void a_result_outlives_the_console_and_is_shown_by_others() {
        world.post("auditor", "/proof");
        ended();

        ConsoleWorld other = restarted();

        assertShows(
                other.page("auditor", "/proof"),
                "Intact up to checkpoint 1, ",
                "verified by audrey@audit.example in a console, login test_console.</p>",
                "Results on record");
        assertLacks(other.page("auditor", "/proof"), "Not verified");
        assertShows(other.page("auditor", "/"), "✓ verified", "; verified ");
        assertLacks(world.page("auditor", "/proof"), "The latest result on record");
    }

    @Test
    void a_result_that_is_not_clean_outlives_the_console_with_its_findings() {
        alter("'somebody else'");
        world.post("auditor", "/proof");
        ended();

        ConsoleWorld other = restarted();

        assertShows(
                other.page("auditor", "/proof"),
                "verdict bad\">NOT intact: ",
                "<a href=\"/mints/%1$s\">mint %1$s</a>".formatted(altered()));
        assertShows(
                other.page("auditor", "/"), "✕ not intact", "<strong>verification failed</strong>");
    }

    private void record(Who who, int wrong, String findings) {
        assertEquals(
                "recorded",
                database.column(
                                who,
                                """
                                SELECT coalesce(internal.record_verification(5, 1, NULL, 40, %d, 0, '%s', '0.1.0',
                                                                             'audrey@audit.example'),
                                                'recorded')
                                """
                                        .formatted(wrong, findings))
                        .getFirst());
    }

    @Test
    void after_a_restart_every_page_still_shows_the_failed_verification() {
        alter("'somebody else'");
        world.post("auditor", "/proof");
        ended();

        ConsoleWorld other = restarted();

        for (String path : List.of("/", "/mints", "/tenants/acme", "/nothing")) {
            assertShows(
                    other.get("auditor", path).body(),
                    "Verification failed: the audit log is not intact.",
                    "<a href=\"/proof#findings\">See the findings</a>");
            assertShows(
                    other.get("lead", path).body(),
                    "Verification failed: the audit log is not intact.",
                    "Ask an auditor");
        }
        assertShows(
                other.page("auditor", "/mints/" + altered()), "This record failed verification.");
        assertShows(other.page("auditor", "/proof"), "<ul class=\"warnings\" id=\"findings\">");
    }

    @Test
    void what_others_recorded_does_not_clear_what_a_console_found() {
        record(Who.CONSOLE, 1, "{Row 7 is not what it was}");
        record(Who.AUDITOR, 0, "{}");

        assertShows(
                world.page("auditor", "/proof"),
                "Verification failed: the audit log is not intact.",
                "Intact up to checkpoint 1, ",
                "An earlier result that no verification of login test_console has cleared",
                "<ul class=\"warnings\" id=\"findings\">",
                "Row 7 is not what it was");
        assertShows(world.page("auditor", "/"), "✕ not intact");

        world.post("auditor", "/proof");
        ended();

        assertLacks(world.page("auditor", "/"), "Verification failed", "✕ not intact");
        assertLacks(restarted().page("auditor", "/"), "Verification failed", "✕ not intact");
        assertLacks(world.page("auditor", "/proof"), "An earlier result");
    }

    @Test
    void a_finding_of_the_command_line_is_shown_until_a_later_result_is_clean() {
        world.post("auditor", "/proof");
        ended();
        record(Who.AUDITOR, 2, "{Row 7 is not what it was}");

        assertShows(world.page("auditor", "/mints"), "2 findings in the verification");
        assertShows(world.page("lead", "/mints"), "2 findings in the verification");

        record(Who.AUDITOR, 0, "{}");

        assertLacks(world.page("auditor", "/mints"), "Verification failed");
    }

    @Test
    void results_of_the_command_line_are_shown_to_viewers_of_all_tenants_alone() {
        assertEquals(
                "recorded",
                database.column(
                                Who.AUDITOR,
                                """
                                SELECT coalesce(internal.record_verification(5, 812, 810, 40, 0, 2, '{"Checkpoint 3 declares a gap"}', '0.1.0', NULL),
                                                'recorded')
                                """)
                        .getFirst());

        assertShows(
                world.page("auditor", "/proof"),
                "Verification found declared gaps or doubts in the audit log.</strong>",
                "verdict attention\">Intact up to checkpoint 812, but 2 declarations or doubts are"
                        + " not accepted, ",
                "verified by the command line, login test_auditor.",
                "outside the database, up to checkpoint 810.",
                "Checkpoint 3 declares a gap");
        assertEquals(403, world.get("lead", "/proof").statusCode());
        assertLacks(world.page("lead", "/"), "test_auditor", "checkpoint 812", "✓ verified");
        assertEquals(
                "0",
                database.column(
                                Who.CONSOLE,
                                """
                                SELECT set_config('mintmark.console_claims', '{"groups": "acme-leads"}', false);
                                SELECT count(*) FROM audit.verification
                                """)
                        .getLast());
    }

    private void record(Who who, String arguments) {
        assertEquals(
                "recorded",
                database.column(
                                who,
                                "SELECT coalesce(internal.record_verification(5, %s, '0.1.0', NULL), 'recorded')"
                                        .formatted(arguments))
                        .getFirst());
    }

    /** Two with checkpoints 812 and 810: a later result has to reach as far as both. */
    @Test
    void a_failure_on_record_counts_until_its_login_records_one_that_covers_as_much() {
        record(Who.AUDITOR, "812, 810, 40, 1, 0, '{\"Checkpoint 811 is missing\"}'");
        for (String narrower :
                List.of(
                        "811, NULL, 40, 0, 0, '{}'",
                        "812, NULL, 40, 0, 0, '{}'",
                        "812, 809, 40, 0, 0, '{}'")) {
            record(Who.AUDITOR, narrower);
            assertStandsFailed();
        }
        for (int result = 0; result < 20; result++) {
            record(Who.CONSOLE, "813, 813, 40, 0, 0, '{}'");
        }
        assertStandsFailed();

        record(Who.AUDITOR, "812, 810, 40, 0, 0, '{}'");

        assertShows(world.page("auditor", "/"), "✓ verified");
        assertLacks(world.page("auditor", "/proof"), "An earlier result");
    }

    private void assertStandsFailed() {
        assertShows(
                world.page("auditor", "/"), "✕ not intact", "<strong>verification failed</strong>");
        assertShows(world.page("lead", "/mints"), "1 finding in the verification");
        assertShows(
                world.page("auditor", "/proof"),
                "An earlier result that no verification of login test_auditor has cleared",
                "NOT intact: 1 finding, ",
                "<ul class=\"warnings\" id=\"findings\">",
                "Checkpoint 811 is missing");
    }

    @Test
    void a_failure_counts_no_more_once_nobody_can_take_it_back() {
        record(Who.AUDITOR, "812, 810, 40, 1, 0, '{\"Checkpoint 811 is missing\"}'");
        record(Who.CONSOLE, "812, NULL, 40, 0, 0, '{}'");
        database.runAsSuperuser(
                """
                ALTER TABLE log.verification DISABLE TRIGGER ALL;
                UPDATE audit.verification SET login = 'dropped' WHERE wrong > 0;
                ALTER TABLE log.verification ENABLE ALWAYS TRIGGER is_not_changed;
                ALTER TABLE log.verification ENABLE ALWAYS TRIGGER is_kept_for_400_days
                """);

        assertShows(world.page("auditor", "/"), "✓ verified");
        assertShows(world.page("auditor", "/proof"), "login dropped");
    }

    @Test
    void a_run_of_somebody_who_has_lost_access_proves_nothing() {
        Proof proof =
                new Proof(
                        viewer ->
                                PostgresLog.asViewer(
                                        database.login(Who.CONSOLE),
                                        TestDatabase.ROLES,
                                        "{\"role\": \"former auditor\"}"),
                        result -> result.record(database.login(Who.CONSOLE)),
                        Optional.of(SealedRows::trusted),
                        InstantSource.system());
        alter("'somebody else'");

        verify(proof);

        ProofRun run = proof.last().orElseThrow();
        assertFalse(run.isClean(), run.verdict());
        assertShows(run.end().orElseThrow().failure().orElseThrow(), "no longer has access to all");
        assertEquals("0", database.value("SELECT count(*) FROM audit.verification"));
    }

    @Test
    void a_run_that_breaks_off_does_not_excuse_one_that_failed() {
        AtomicBoolean broken = new AtomicBoolean();
        Proof proof =
                new Proof(
                        viewer -> {
                            if (broken.get()) {
                                throw new IllegalStateException("the database is gone");
                            }
                            return PostgresLog.asViewer(
                                    database.login(Who.CONSOLE),
                                    TestDatabase.ROLES,
                                    viewer.claims());
                        },
                        result -> result.record(database.login(Who.CONSOLE)),
                        Optional.of(SealedRows::trusted),
                        InstantSource.system());
        alter("'somebody else'");
        verify(proof);
        ProofRun failed = proof.failed().orElseThrow();

        broken.set(true);
        verify(proof);

        assertEquals(Optional.of(failed), proof.failed());
        assertTrue(failed.isWrong(altered()));
        assertFalse(proof.last().equals(proof.failed()));
    }

    private static void verify(Proof proof) {
        proof.begin(ConsoleWorld.AUDITOR, 1);
        Eventually.holds(() -> proof.last().orElseThrow().end().isPresent());
    }

    @Test
    void a_finding_links_to_the_rows_that_it_names() {
        String mint = "0198f1e2-0000-7000-8000-000000000000";
        Finding finding =
                new Finding(
                        Finding.Kind.WRONG,
                        "Change 7 of tenant acme and mint %s, not <b>".formatted(mint));

        assertEquals(
                List.of(
                        new FindingLine.Part("", Optional.empty()),
                        new FindingLine.Part(
                                "Change 7 of tenant acme",
                                Optional.of("/tenants/acme/history?before=8")),
                        new FindingLine.Part(" and ", Optional.empty()),
                        new FindingLine.Part("mint " + mint, Optional.of("/mints/" + mint)),
                        new FindingLine.Part(", not <b>", Optional.empty())),
                FindingLine.of(finding).parts());
    }

    @Test
    void who_leads_a_tenant_begins_none() {
        HttpResponse<String> answer = world.post("lead", "/proof");

        assertEquals(403, answer.statusCode());
        assertTrue(answer.body().contains("it needs access to all tenants"), answer.body());
        assertTrue(world.get("auditor", "/proof").body().contains("Not verified yet"));
    }

    @Test
    void without_keys_the_page_says_what_is_missing() {
        try (ConsoleWorld keyless =
                new ConsoleWorld(database.login(Who.CONSOLE), Optional.empty())) {
            keyless.post("auditor", "/proof");

            String page = keyless.get("auditor", "/proof").body();

            assertTrue(page.contains("CONSOLE_AUDIT_KEYS_FILE"), page);
            assertFalse(page.contains("<button type=\"submit\">Verify"), page);
        }
    }

    @Test
    void keys_that_cannot_be_read_are_told_and_hide_nothing_else() {
        try (ConsoleWorld broken =
                new ConsoleWorld(
                        database.login(Who.CONSOLE),
                        Optional.of(() -> {
                            throw new IllegalStateException("the file is gone");
                        }))) {
            assertShows(
                    broken.page("auditor", "/proof"),
                    "The keys to trust can't be read now",
                    "checkpoint </span>1<");
        }
    }

    private static final Pattern END = Pattern.compile("The last verification");

    /** The page as soon as it says that the run has ended. */
    private String ended() {
        Instant end = Instant.now().plus(Eventually.PATIENCE);
        while (Instant.now().isBefore(end)) {
            String page = world.get("auditor", "/proof").body();
            Matcher matcher = END.matcher(page);
            if (matcher.find()) {
                return page;
            }
            Thread.onSpinWait();
        }
        throw new AssertionError("the verification didn't end");
    }
}
