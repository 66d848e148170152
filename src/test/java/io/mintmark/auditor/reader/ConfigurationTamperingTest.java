package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** Who owns the database writes the configuration past its history. */
class ConfigurationTamperingTest {
    @TempDir private Path directory;
    private static final String CONFIGURATION =
            """
            INSERT INTO broker.tenant (name) VALUES ('acme'), ('other');
            INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'mintmark_tenant_admin');
            INSERT INTO broker.shared_issuer (issuer, owner_claims)
            VALUES ('https://ci.example.com', '{org}');
            UPDATE broker.shared_issuer SET issuer = 'https://ci.example.org'
             WHERE issuer = 'https://ci.example.com';
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
            VALUES ('ci', 'acme', 'https://issuer.example.com', '{mintmark-acme}');
            INSERT INTO broker.access_provider (tenant, name, type, settings)
            VALUES ('acme', 'own', 'jwt', '{}');
            INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
            VALUES ('acme', 'api', 'own', 'The API', 600, '{"audience": "https://api.example.com"}'),
                   ('acme', 'gone', 'own', '', 600, '{"audience": "https://gone.example.com"}');
            UPDATE broker.key SET name = 'went' WHERE name = 'gone';
            DELETE FROM broker.key WHERE name = 'went';
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until)
            VALUES ('acme', 'ci', 'ci:main', 'api', '2099-01-01 00:00+02');
            UPDATE broker.subject_grant SET reason = 'ticket 7', max_duration = 60;
            """;

    @AutoClose private final TestDatabase database = TestDatabase.filled(CONFIGURATION);

    @BeforeEach
    void seal() {
        Seals.seal(database);
    }

    /** Past the triggers, as only the owner gets. */
    private void attack(String table, String sql) {
        database.runAsSuperuser(
                "ALTER TABLE broker.%1$s DISABLE TRIGGER USER; %2$s; ALTER TABLE broker.%1$s ENABLE TRIGGER USER"
                        .formatted(table, sql));
    }

    @Test
    void tables_that_are_what_their_history_says_are_not_accused() {
        assertEquals(List.of(), Seals.wrong(database));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    subject_grant     | UPDATE broker.subject_grant SET subject = 'mallory' | mallory
                    subject_grant     | UPDATE broker.subject_grant SET created_by = 'x'    | "created_by": "x"
                    key               | UPDATE broker.key SET max_duration = 43200          | 43200
                    identity_provider | UPDATE broker.identity_provider SET jwks_uri = 'https://evil.example.com/k' | evil
                    tenant            | UPDATE broker.tenant SET display_name = 'Evil' WHERE name = 'other' | Evil
                    shared_issuer     | UPDATE broker.shared_issuer SET owner_claims = '{sub}' WHERE issuer = 'https://ci.example.org' | ci.example.org
                    """)
    void a_row_that_was_changed_past_its_history_is_found(String table, String sql, String shown) {
        attack(table, sql);
        List<String> wrong = Seals.wrong(database);
        assertEquals(2, wrong.size(), wrong.toString());
        assertTrue(
                wrong.stream()
                        .anyMatch(w ->
                                w.startsWith(
                                                "broker."
                                                        + table
                                                        + " has a row that is not in its history")
                                        && w.contains(shown)),
                wrong.toString());
        assertTrue(
                wrong.stream().anyMatch(w -> w.startsWith("broker." + table + " lacks a row")),
                wrong.toString());
    }

    /** As migrations do it, with rows and history from before. */
    @Test
    void columns_that_a_later_release_added_are_no_difference() throws Exception {
        database.runAsSuperuser(
                "ALTER TABLE broker.tenant ADD COLUMN most int, ADD COLUMN note text");
        assertNoDifference();
        database.admin("UPDATE broker.tenant SET display_name = 'A' WHERE name = 'acme'");
        assertNoDifference();
        database.runAsSuperuser("VACUUM FULL broker.tenant");
        assertNoDifference();
        attack("tenant", "UPDATE broker.tenant SET most = 8 WHERE name = 'other'");
        assertEquals(2, Seals.wrong(database).size());
        assertEquals(1, new Script(directory, database).status(List.of()));
    }

    private void assertNoDifference() throws Exception {
        Seals.seal(database);
        assertEquals(List.of(), Seals.wrong(database));
        Script script = new Script(directory, database);
        assertEquals(0, script.status(List.of()), script::output);
    }

    @Test
    void a_grant_that_was_removed_past_its_history_is_found() {
        attack("subject_grant", "DELETE FROM broker.subject_grant");
        List<String> wrong = Seals.wrong(database);
        assertEquals(1, wrong.size(), wrong.toString());
        assertTrue(wrong.getFirst().startsWith("broker.subject_grant lacks a row"));
    }

    @Test
    void a_grant_that_was_added_past_its_history_is_found() {
        attack(
                "subject_grant",
                "INSERT INTO broker.subject_grant (id, tenant, idp, subject, key)"
                        + " VALUES (4711, 'acme', 'ci', 'mallory', 'api')");
        List<String> wrong = Seals.wrong(database);
        assertEquals(1, wrong.size(), wrong.toString());
        assertTrue(wrong.getFirst().contains("mallory"), wrong.toString());
    }

    /** What {@code pg_dump --enable-row-security} asks for (docs/audit.md). */
    @Test
    void an_auditor_who_reads_all_data_may_read_whatever_a_dump_is_made_of() throws SQLException {
        String login = database.name() + "_dumper";
        database.runAsSuperuser(
                "CREATE ROLE %s LOGIN PASSWORD '%s' IN ROLE mintmark_auditor, pg_read_all_data"
                        .formatted(login, TestDatabase.PASSWORD));
        try (Connection connection =
                        DriverManager.getConnection(database.url(), login, TestDatabase.PASSWORD);
                Statement statement = connection.createStatement()) {
            for (String relation :
                    database.column(
                            """
                            SELECT c.oid::regclass FROM pg_class AS c
                              JOIN pg_namespace AS n ON n.oid = c.relnamespace
                             WHERE n.nspname IN ('broker', 'audit', 'log', 'runtime', 'work', 'internal')
                               AND c.relkind IN ('r', 'p', 'S')
                            """)) {
                statement.execute("SELECT count(*) FROM " + relation);
            }
            statement.execute("SELECT count(*) > 0 FROM log.config_change");
        } finally {
            database.runAsSuperuser("DROP ROLE " + login);
        }
    }
}
