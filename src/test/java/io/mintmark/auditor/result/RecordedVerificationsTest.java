package io.mintmark.auditor.result;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditCommand.Ran;
import io.mintmark.base.sql.SealedRows;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** What verifications leave on record, and what logins that may record can do to it. */
@Tag("every-postgres")
class RecordedVerificationsTest {
    private static final String CLEAN = "7, 812, NULL, 40, 0, 0, '{}', '0.1.0', NULL";

    private static final String ALL =
            """
            SELECT concat_ws(' ', verdict, checkpoint, kept_checkpoint, rows_read, wrong, unaccepted, findings,
                             login, program, viewer)
              FROM audit.verification ORDER BY id
            """;

    private static final String COUNT = "SELECT count(*) FROM audit.verification";

    @AutoClose private final TestDatabase database = TestDatabase.migrated();
    @TempDir private Path directory;

    @BeforeEach
    void write() {
        database.admin("INSERT INTO broker.tenant (name) VALUES ('acme')");
    }

    private Ran verify(Who who, String... options) throws Exception {
        List<String> all = new ArrayList<>(List.of("verify"));
        Collections.addAll(all, options);
        return new AuditCommand(database, directory, who).run(all.toArray(String[]::new));
    }

    private String record(Who who, String arguments) {
        return database.column(
                        who,
                        "SELECT coalesce(internal.record_verification(%s), 'recorded')"
                                .formatted(arguments))
                .getFirst();
    }

    @Test
    void the_command_line_records_what_it_found() throws Exception {
        SealedRows.write(database, 2);

        assertEquals(new Ran(0, "", ""), withoutOutput(verify(Who.AUDITOR)));

        String read = database.value("SELECT 4 + count(*) FROM audit.config_change");
        assertEquals(
                List.of("intact 1 %s 0 0 {} test_auditor command line".formatted(read)),
                database.column(Who.AUDITOR, ALL));
    }

    @Test
    void a_changed_row_is_recorded_with_its_finding_and_the_exit_code_stays() throws Exception {
        SealedRows.write(database, 2);
        database.runAsSuperuser(
                """
                SET session_replication_role = replica;
                ALTER TABLE log.event DISABLE TRIGGER ALL;
                UPDATE audit.event SET subject = 'somebody else' WHERE seq = 1
                """);

        assertEquals(1, verify(Who.AUDITOR).status());

        assertEquals(
                "wrong 1 t",
                database.value(
                        "SELECT concat_ws(' ', verdict, checkpoint, findings[1] LIKE '%was changed%')"
                                + " FROM audit.verification"));
    }

    @Test
    void nothing_is_recorded_on_request() throws Exception {
        SealedRows.write(database, 1);

        assertEquals(new Ran(0, "", ""), withoutOutput(verify(Who.AUDITOR, "--no-record")));

        assertEquals("0", database.value(COUNT));
    }

    @Test
    void a_read_only_database_is_verified_all_the_same() throws Exception {
        SealedRows.write(database, 1);
        database.runAsSuperuser(
                "ALTER ROLE test_auditor IN DATABASE %s SET default_transaction_read_only = on"
                        .formatted(database.value("SELECT quote_ident(current_database())")));

        Ran ran = verify(Who.AUDITOR);

        assertEquals(0, ran.status());
        assertShows(
                ran.errors(),
                "mintmark: the result was not recorded in the database, because",
                "read-only transaction",
                "--no-record");
        assertEquals("0", database.value(COUNT));
    }

    private static Ran withoutOutput(Ran ran) {
        return new Ran(ran.status(), "", ran.errors());
    }

    @ParameterizedTest
    @EnumSource(
            value = Who.class,
            names = {"AUDITOR", "CONSOLE"})
    void who_recorded_it_and_when_is_what_the_database_knows(Who who) {
        assertEquals("recorded", record(who, "60, 1, NULL, 40, 0, 0, '{}', '0.1.0', 'the boss'"));
        assertEquals(
                who.login() + (who == Who.CONSOLE ? " console the boss" : " command line") + " t",
                database.value(
                        """
                        SELECT concat_ws(' ', login, program, viewer, recorded_at - began_at = '1 minute'
                                         AND recorded_at BETWEEN now() - interval '1 minute' AND now())
                          FROM audit.verification
                        """));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    -1, 1, NULL, 1, 0, 0, '{}', 'v', NULL                       | 0 to 604800 seconds
                    NULL, 1, NULL, 1, 0, 0, '{}', 'v', NULL                     | 0 to 604800 seconds
                    604801, 1, NULL, 1, 0, 0, '{}', 'v', NULL                   | 0 to 604800 seconds
                    1, -1, NULL, 1, 0, 0, '{}', 'v', NULL                       | numbers_are_not_negative
                    1, 1, -1, 1, 0, 0, '{}', 'v', NULL                          | numbers_are_not_negative
                    1, 1, NULL, -1, 0, 0, '{}', 'v', NULL                       | numbers_are_not_negative
                    1, 1, NULL, 1, -1, 0, '{}', 'v', NULL                       | numbers_are_not_negative
                    1, 1, NULL, 1, 0, -1, '{}', 'v', NULL                       | numbers_are_not_negative
                    1, 1, NULL, 1, NULL, 0, '{}', 'v', NULL                     | null value in column "wrong"
                    1, NULL, NULL, 1, 0, 0, '{}', 'v', NULL                     | only_something_wrong_is_known_before_the_end
                    1, 1, NULL, 1, 1, 0, ARRAY[repeat('x', 5001)], 'v', NULL    | up_to_10_findings
                    1, 1, NULL, 1, 1, 0, ARRAY[repeat('x', 300000000)], 'v', NULL | up_to_10_findings
                    1, 1, NULL, 1, 1, 0, array_fill('x'::text, '{11}'), 'v', NULL | up_to_10_findings
                    1, 1, NULL, 1, 1, 0, ARRAY[ARRAY['x']], 'v', NULL           | up_to_10_findings
                    1, 1, NULL, 1, 1, 0, ARRAY['x', NULL], 'v', NULL            | up_to_10_findings
                    1, 1, NULL, 1, 1, 0, NULL, 'v', NULL                        | null value in column "findings"
                    1, 1, NULL, 1, 1, 0, '{}', repeat('v', 101), NULL           | a_version_has_up_to_100_characters
                    1, 1, NULL, 1, 1, 0, '{}', 'v', repeat('x', 301)            | only_a_console_has_a_viewer
                    1, 1, NULL, 1, 1, 0, ARRAY[chr(0)], 'v', NULL               | null character
                    1, 1, NULL, 9223372036854775808, 0, 0, '{}', 'v', NULL      | does not exist
                    """)
    void what_no_verification_finds_is_refused(String arguments, String why) {
        IllegalStateException refused =
                assertThrows(IllegalStateException.class, () -> record(Who.CONSOLE, arguments));
        assertShows(refused + " " + refused.getCause(), why);
        assertEquals("0", database.value(COUNT));
    }

    @Test
    void a_flood_ends_after_a_hundred_and_hides_nothing() {
        record(Who.AUDITOR, "7, 812, NULL, 40, 3, 0, '{first}', '0.1.0', NULL");
        String flood =
                "SELECT count(*) FROM generate_series(1, 150) AS n WHERE internal.record_verification(%s) IS NULL"
                        .formatted(CLEAN);

        assertEquals("100", database.column(Who.CONSOLE, flood).getFirst());

        assertShows(record(Who.CONSOLE, CLEAN), "login test_console has recorded 100 results");
        assertEquals("101", database.value(COUNT));
        assertEquals("recorded", record(Who.AUDITOR, CLEAN));
        assertEquals(
                "3", database.value("SELECT wrong FROM audit.verification ORDER BY id LIMIT 1"));
    }

    /** Neither by transactions that don't see each other's rows, nor by ones that see old ones. */
    @Test
    void a_flood_of_open_transactions_ends_after_a_hundred_too() throws SQLException {
        record(Who.AUDITOR, CLEAN);
        String flood =
                "SET LOCAL lock_timeout = 50; SELECT count(internal.record_verification(%s)) FROM generate_series(1, 60)"
                        .formatted(CLEAN);
        try (Connection first = database.connect(Who.AUDITOR);
                Connection second = database.connect(Who.AUDITOR);
                Connection old = database.connect(Who.AUDITOR);
                Connection other = database.connect(Who.CONSOLE)) {
            for (Connection one : List.of(first, second, old, other)) {
                one.setAutoCommit(false);
            }
            old.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            execute(old, COUNT);
            execute(first, flood);

            SQLException waits = assertThrows(SQLException.class, () -> execute(second, flood));
            assertShows(String.valueOf(waits.getMessage()), "lock timeout");
            execute(other, flood);

            first.commit();
            other.commit();
            second.rollback();
            execute(second, flood);
            second.commit();
            execute(old, flood);
            old.commit();
        }
        assertEquals(
                List.of("test_auditor 100", "test_console 60"),
                database.column(
                        Who.AUDITOR,
                        "SELECT login || ' ' || count(*) FROM audit.verification GROUP BY login ORDER BY 1"));
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @ParameterizedTest
    @EnumSource(Who.class)
    void nobody_writes_changes_or_deletes_a_result_by_other_ways(Who who) {
        record(Who.AUDITOR, CLEAN);
        List<String> before = database.column(Who.AUDITOR, ALL);
        String role = who == Who.OWNER ? "SET ROLE mintmark_owner; " : "";
        for (String statement :
                List.of(
                        "UPDATE audit.verification SET login = 'somebody'",
                        "UPDATE audit.verification SET wrong = 0 WHERE false",
                        "DELETE FROM audit.verification",
                        "TRUNCATE log.verification",
                        "INSERT INTO audit.verification OVERRIDING SYSTEM VALUE SELECT v.* FROM audit.verification AS v",
                        "SELECT FROM audit.verification FOR UPDATE")) {
            if (who != Who.OWNER || !statement.contains("FOR UPDATE")) {
                assertThrows(
                        IllegalStateException.class,
                        () -> database.run(who, role + statement),
                        statement);
            }
        }
        assertEquals(before, database.column(Who.AUDITOR, ALL));
    }

    @ParameterizedTest
    @EnumSource(
            value = Who.class,
            mode = Mode.EXCLUDE,
            names = {"AUDITOR", "CONSOLE", "OWNER"})
    void only_who_verifies_records(Who who) {
        assertThrows(IllegalStateException.class, () -> record(who, CLEAN));
        assertEquals("0", database.value(COUNT));
    }

    @Test
    void results_go_after_400_days_with_the_next_one() {
        record(Who.AUDITOR, CLEAN);
        database.runAsSuperuser(
                """
                ALTER TABLE log.verification DISABLE TRIGGER ALL;
                UPDATE audit.verification SET began_at = now() - interval '402 days', recorded_at = now() - interval '402 days';
                ALTER TABLE log.verification ENABLE ALWAYS TRIGGER is_not_changed;
                ALTER TABLE log.verification ENABLE ALWAYS TRIGGER is_kept_for_400_days
                """);

        record(Who.CONSOLE, CLEAN);

        assertEquals(
                List.of("test_console"),
                database.column(Who.AUDITOR, "SELECT login FROM audit.verification"));
    }

    @Test
    void text_of_an_attacker_is_recorded_as_what_can_be_shown() {
        String hostile = "\0\u202e\ud800" + "𝔵".repeat(600);
        VerificationResult result =
                new VerificationResult(
                        Duration.ofSeconds(3),
                        Optional.empty(),
                        12,
                        20,
                        0,
                        Collections.nCopies(20, hostile),
                        Optional.of(hostile));

        assertEquals(Optional.empty(), result.record(database.login(Who.CONSOLE)));

        assertEquals(
                "10 500 300 ⟨U+0000⟩⟨U+202E⟩⟨U+D800⟩𝔵",
                database.value(
                        """
                        SELECT concat_ws(' ', cardinality(findings), length(findings[10]), length(viewer), left(viewer, 25))
                          FROM audit.verification
                        """));
    }
}
