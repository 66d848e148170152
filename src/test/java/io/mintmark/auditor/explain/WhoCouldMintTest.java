package io.mintmark.auditor.explain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.List;

/** Who could mint a key at a moment of the past, and how sure that is. */
@Tag("every-postgres")
class WhoCouldMintTest {
    @AutoClose private static TestDatabase database;
    private static int rounds;
    private String key = "";

    @BeforeAll
    static void create() throws IOException {
        database = TestDatabase.migrated();
        admin(SqlCase.script("refusals", "setup"));
        admin(
                "INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', '%s')"
                        .formatted(Who.TENANT_ADMIN.login()));
    }

    /** Each test has a key of its own in the same tenant. */
    @BeforeEach
    void key() {
        key = "key" + rounds++;
        admin(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', '%s', 'own', 600, '{"audience": "https://api.example.com"}')
                """
                        .formatted(key));
    }

    private static void admin(String sql) {
        database.admin(sql);
    }

    private void grant(String subject) {
        admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', '%s', '%s', 'x')"
                        .formatted(subject, key));
    }

    private static String now() {
        return database.value("SELECT clock_timestamp()");
    }

    private List<String> who(String at) {
        return who(Who.AUDITOR, at);
    }

    private List<String> who(Who asking, String at) {
        return database.column(
                asking,
                "SELECT subject || CASE WHEN uncertain THEN '?' ELSE '' END FROM audit.who_could_mint('acme', '%s', '%s')"
                        .formatted(key, at));
    }

    /** Somebody else changes something else: whatever came before is committed. */
    private static void another() {
        admin(
                "UPDATE broker.tenant SET display_name = clock_timestamp()::text WHERE name ="
                        + " 'acme'");
    }

    @Test
    void a_grant_is_told_as_it_was() {
        admin(
                """
                INSERT INTO broker.subject_grant
                       (tenant, idp, subject, match, key, claims, valid_until, max_duration, reason)
                VALUES ('acme', 'ci', 'a:*', 'glob', '%s', '{"ref": "main"}', '2100-01-01Z', 60, 'OPS-1')
                """
                        .formatted(key));
        String at = now();
        admin("DELETE FROM broker.subject_grant WHERE key = '%s'".formatted(key));
        database.assertRows(
                Who.AUDITOR,
                """
                SELECT concat_ws(' ', subject, match, idp, claims,
                                 grant_id = (SELECT max((after ->> 'id')::int) FROM audit.config_change
                                              WHERE table_name = 'subject_grant'), max_duration,
                                 coalesce(valid_from::text, '-'), valid_until::date, granted_by,
                                 granted_at < '%2$s', reason)
                  FROM audit.who_could_mint('acme', '%1$s', '%2$s')
                """
                        .formatted(key, at),
                "a:* glob ci {\"ref\": \"main\"} t 60 - 2100-01-01 test_admin t OPS-1");
        assertEquals(List.of(), who(now()));
    }

    @Test
    void what_is_above_a_grant_counts_as_it_was() {
        grant("a");
        for (String edit :
                List.of(
                        "UPDATE broker.key SET enabled = %s WHERE name = '" + key + "'",
                        "UPDATE broker.access_provider SET enabled = %s WHERE name = 'own'",
                        "UPDATE broker.identity_provider SET enabled = %s WHERE name = 'ci'",
                        "UPDATE broker.tenant SET enabled = %s WHERE name = 'acme'")) {
            another();
            String before = now();
            admin(edit.formatted("false"));
            String meanwhile = now();
            admin(edit.formatted("true"));
            another();
            assertEquals(List.of("a"), who(now()), edit);
            assertEquals(List.of(), who(meanwhile), edit);
            assertEquals(List.of("a"), who(before), edit);
        }
    }

    @Test
    void the_longest_life_of_a_tenants_credentials_counts_as_it_was() {
        grant("a");
        another();
        String before = now();
        admin("UPDATE broker.tenant SET max_duration = 30 WHERE name = 'acme'");
        String meanwhile = now();
        admin("UPDATE broker.tenant SET max_duration = NULL WHERE name = 'acme'");
        another();
        assertEquals(List.of("30"), longest(meanwhile));
        assertEquals(longest(now()), longest(before));
    }

    private List<String> longest(String at) {
        return database.column(
                Who.AUDITOR,
                "SELECT max_duration FROM audit.who_could_mint('acme', '%s', '%s')"
                        .formatted(key, at));
    }

    @Test
    void a_blocked_subject_could_not_mint_while_it_was_blocked() {
        grant("a");
        grant("b");
        another();
        for (String tenant : List.of("'acme'", "NULL")) {
            admin(
                    "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES (%s, 'a', 'x')"
                            .formatted(tenant));
            String meanwhile = now();
            admin("DELETE FROM broker.blocked_subject");
            another();
            for (Who asking : List.of(Who.AUDITOR, Who.ADMIN, Who.TENANT_ADMIN)) {
                assertEquals(1, who(asking, meanwhile).size(), asking + " " + tenant);
                assertEquals(List.of("a", "b"), who(asking, now()));
            }
        }
    }

    @Test
    void a_change_is_uncertain_while_its_transaction_was_under_way() throws SQLException {
        grant("a");
        another();
        String made;
        try (Connection open = database.connect(Who.ADMIN);
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute(
                    "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'b', '%s')"
                            .formatted(key));
            made = now();
            open.commit();
        }
        assertEquals(List.of("a", "b?"), who(made));
        String last = now();
        assertEquals(List.of("a", "b?"), who(last));
        another();
        String later = now();
        another();
        assertEquals(List.of("a", "b"), who(later));
        assertEquals(List.of("a", "b?"), who(last));
    }

    @Test
    void a_checkpoint_shows_that_what_came_before_it_was_committed() {
        grant("a");
        String before = now();
        checkpoint();
        String after = now();
        assertEquals(List.of("a?"), who(before));
        assertEquals(List.of("a"), who(after));
        assertEquals(List.of("a"), who(Who.TENANT_ADMIN, after));
    }

    @Test
    void a_change_elsewhere_shows_that_what_was_committed_before_it_was() {
        grant("a");
        String before = now();
        admin(
                "UPDATE broker.tenant SET display_name = clock_timestamp()::text WHERE name ="
                        + " 'other'");
        assertEquals(List.of("a?"), who(before));
        assertEquals(List.of("a"), who(now()));
    }

    @Test
    void a_change_elsewhere_shows_nothing_of_a_transaction_that_is_under_way() throws SQLException {
        String meanwhile;
        try (Connection open = database.connect(Who.ADMIN);
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute(
                    "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'b', '%s')"
                            .formatted(key));
            admin(
                    "UPDATE broker.tenant SET display_name = clock_timestamp()::text WHERE name ="
                            + " 'other'");
            meanwhile = now();
            open.commit();
        }
        assertEquals(List.of("b?"), who(meanwhile));
    }

    /** PostgreSQL leaves a transaction out of its own snapshot. */
    @Test
    void a_transaction_under_way_shows_nothing_of_itself() throws SQLException {
        String meanwhile;
        try (Connection open = database.connect(Who.ADMIN);
                Statement statement = open.createStatement()) {
            open.setAutoCommit(false);
            statement.execute("SELECT pg_current_xact_id()");
            admin(
                    "UPDATE broker.tenant SET display_name = clock_timestamp()::text WHERE name ="
                            + " 'other'");
            statement.execute(
                    "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'b', '%s')"
                            .formatted(key));
            meanwhile = now();
            open.commit();
        }
        assertEquals(List.of("b?"), who(meanwhile));
    }

    /** Greater numbers than any of this server's, as a dump of another one brings them. */
    @Test
    void what_was_proven_before_a_dump_was_loaded_stays_proven() {
        grant("a");
        another();
        String proven = now();
        long ahead = 1_000_000_000_000L;
        database.runAsSuperuser(
                """
                ALTER TABLE audit.config_change DISABLE TRIGGER is_append_only;
                UPDATE audit.config_change SET transaction_id = transaction_id + %1$d;
                ALTER TABLE audit.config_change ENABLE ALWAYS TRIGGER is_append_only;
                UPDATE runtime.noted_snapshot SET snapshot = format('%%s:%%s:%%s',
                       %1$d + pg_snapshot_xmin(snapshot)::text::bigint, %1$d + pg_snapshot_xmax(snapshot)::text::bigint,
                       (SELECT string_agg((%1$d + x::text::bigint)::text, ',') FROM pg_snapshot_xip(snapshot) AS x))::pg_snapshot
                """
                        .formatted(ahead));
        try {
            for (int i = 0; i < 20; i++) {
                admin(
                        "UPDATE broker.tenant SET display_name = clock_timestamp()::text WHERE name"
                                + " = 'other'");
            }
            assertEquals(List.of("a"), who(proven));
            assertEquals(List.of("a"), who(now()));
        } finally {
            database.runAsSuperuser(
                    """
                    ALTER TABLE audit.config_change DISABLE TRIGGER is_append_only;
                    UPDATE audit.config_change SET transaction_id = transaction_id - %1$d WHERE transaction_id > %1$d;
                    ALTER TABLE audit.config_change ENABLE ALWAYS TRIGGER is_append_only;
                    DELETE FROM runtime.noted_snapshot WHERE pg_snapshot_xmin(snapshot)::text::bigint > %1$d
                    """
                            .formatted(ahead));
        }
    }

    @Test
    void at_the_moment_of_asking_nothing_is_uncertain() {
        grant("a");
        database.assertRows(
                Who.AUDITOR,
                "SELECT uncertain FROM audit.who_could_mint('acme', '%s', now())".formatted(key),
                "f");
    }

    @Test
    void before_there_was_a_key_nobody_could_mint_it_and_that_is_told() throws SQLException {
        grant("a");
        assertEquals(
                "Tenant \"acme\" had no key \"%s\" at 2020-01-01 00:00:00+00.".formatted(key),
                told("2020-01-01Z"));
        assertEquals(List.of(), who("2020-01-01Z"));
        assertEquals("", told(now()));
    }

    @Test
    void a_key_that_went_answers_for_the_time_when_it_was_there() throws SQLException {
        grant("a");
        another();
        String there = now();
        admin("DELETE FROM broker.subject_grant WHERE key = '%s'".formatted(key));
        admin("DELETE FROM broker.key WHERE name = '%s'".formatted(key));
        assertEquals(List.of("a"), who(there));
        assertEquals(List.of(), who(now()));
        assertTrue(told(now()).contains("had no key"), told(now()));
    }

    @Test
    void of_a_time_to_come_it_is_told_that_it_is() throws SQLException {
        grant("a");
        assertEquals(
                "2100-01-01 00:00:00+00 is in the future: the result assumes no further "
                        + "changes.",
                told("2100-01-01Z"));
        assertEquals(List.of("a"), who("2100-01-01Z"));
    }

    /** The notice, without an answer's rows; empty if there is none. */
    private String told(String at) throws SQLException {
        try (Connection connection = database.connect(Who.AUDITOR);
                Statement statement = connection.createStatement()) {
            statement.execute("SET TimeZone = 'UTC'");
            statement.execute(
                    "SELECT FROM audit.who_could_mint('acme', '%s', '%s')".formatted(key, at));
            SQLWarning told = statement.getWarnings();
            return told == null ? "" : String.valueOf(told.getMessage());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "'nobody', 'api', now(); The history that you may see has no tenant \"nobody\".",
                "'amce', 'api', now(); Did you mean \"acme\"?",
                "'acme', 'apy', now(); Tenant \"acme\" never had a key \"apy\".",
                "'acme', 'apy', '2020-01-01'; Did you mean \"api\"?",
                "'acme', 'ci', now(); Tenant \"acme\" never had a key \"ci\".",
                "NULL, 'api', now(); audit.who_could_mint needs a tenant.",
                "'acme', NULL, now(); audit.who_could_mint needs a key.",
                "'acme', 'api', NULL; audit.who_could_mint needs a time.",
                "'acme', 'api', 'infinity'; audit.who_could_mint needs a time."
            })
    void what_never_was_is_refused(String arguments, String told) {
        for (Who asking : List.of(Who.AUDITOR, Who.ADMIN, Who.TENANT_ADMIN)) {
            IllegalStateException refused =
                    assertThrows(
                            IllegalStateException.class,
                            () ->
                                    database.column(
                                            asking,
                                            "SELECT subject FROM audit.who_could_mint(%s)"
                                                    .formatted(arguments)));
            String message = String.valueOf(refused.getCause());
            assertTrue(message.contains(told), message);
        }
    }

    @Test
    void checkpoints_note_no_more_than_changes_need() {
        grant("a");
        String before = now();
        long number = checkpoint();
        String notes = notes();
        String after = now();
        for (int i = 1; i <= 5; i++) {
            assertEquals(number + i, checkpoint());
        }
        assertEquals(notes, notes());
        assertEquals(List.of("a?"), who(before));
        assertEquals(List.of("a"), who(after));
        grant("b");
        checkpoint();
        assertEquals(List.of("a", "b"), who(now()));
    }

    private static long checkpoint() {
        return Long.parseLong(
                database.column(
                                Who.APP,
                                """
                                INSERT INTO audit.checkpoint (number, sealed_at, jws)
                                SELECT coalesce(max(number), 0) + 1, now(), 'e30.e30.AA' FROM audit.checkpoint
                                RETURNING number
                                """)
                        .getFirst());
    }

    private static String notes() {
        return database.value("SELECT count(*) FROM runtime.noted_snapshot");
    }

    /** The statement of the migration that found them, for a database of before. */
    @Test
    void when_a_block_of_all_tenants_ends_its_admins_can_not_find_out() {
        grant("a");
        another();
        admin(
                "INSERT INTO broker.blocked_subject (subject, reason, until) VALUES ('a', 'x',"
                        + " now() + interval '1 hour')");
        try {
            String then = database.value("SELECT now() + interval '1 day'");
            assertEquals(List.of("a"), who(Who.AUDITOR, then));
            assertEquals(List.of(), who(Who.TENANT_ADMIN, then));
            assertEquals(List.of("true"), explained(Who.AUDITOR, then));
            assertEquals(List.of("blocked"), explained(Who.TENANT_ADMIN, then));
        } finally {
            admin("DELETE FROM broker.blocked_subject");
        }
    }

    private List<String> explained(Who asking, String at) {
        return database.column(
                asking,
                "SELECT coalesce(condition, granted::text) FROM broker.explain('ci', 'a', '{}', '%s') WHERE key = '%s'"
                        .formatted(at, key));
    }
}
