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

    /** By how many minutes the history was moved into the past. */
    private static int moved;

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

    /** A time that stays at its place in the history, wherever that is moved. */
    private static String now() {
        return database.value("SELECT clock_timestamp() + interval '%d minutes'".formatted(moved));
    }

    private static String at(String time) {
        return time.endsWith("Z")
                ? "timestamptz '%s'".formatted(time)
                : "timestamptz '%s' - interval '%d minutes'".formatted(time, moved);
    }

    /** From now on what was recorded so far is committed for certain. */
    private static void minutesPass() {
        moved += 3;
        database.runAsSuperuser(
                """
                ALTER TABLE log.config_change DISABLE TRIGGER is_append_only;
                UPDATE audit.config_change SET changed_at = changed_at - interval '3 minutes';
                ALTER TABLE log.config_change ENABLE ALWAYS TRIGGER is_append_only;
                """);
    }

    private List<String> who(String at) {
        return who(Who.AUDITOR, at);
    }

    private List<String> who(Who asking, String at) {
        return database.column(
                asking,
                "SELECT subject || CASE WHEN uncertain THEN '?' ELSE '' END FROM audit.who_could_mint('acme', '%s', %s)"
                        .formatted(key, at(at)));
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
                                 granted_at < %2$s, reason)
                  FROM audit.who_could_mint('acme', '%1$s', %2$s)
                """
                        .formatted(key, at(at)),
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
            minutesPass();
            String before = now();
            admin(edit.formatted("false"));
            String meanwhile = now();
            admin(edit.formatted("true"));
            minutesPass();
            assertEquals(List.of("a"), who(now()), edit);
            assertEquals(List.of(), who(meanwhile), edit);
            assertEquals(List.of("a"), who(before), edit);
        }
    }

    @Test
    void the_longest_life_of_a_tenants_credentials_counts_as_it_was() {
        grant("a");
        minutesPass();
        String before = now();
        admin("UPDATE broker.tenant SET max_duration = 30 WHERE name = 'acme'");
        String meanwhile = now();
        admin("UPDATE broker.tenant SET max_duration = NULL WHERE name = 'acme'");
        minutesPass();
        assertEquals(List.of("30"), longest(meanwhile));
        assertEquals(longest(now()), longest(before));
    }

    private List<String> longest(String at) {
        return database.column(
                Who.AUDITOR,
                "SELECT max_duration FROM audit.who_could_mint('acme', '%s', %s)"
                        .formatted(key, at(at)));
    }

    @Test
    void a_blocked_subject_could_not_mint_while_it_was_blocked() {
        grant("a");
        grant("b");
        minutesPass();
        for (String tenant : List.of("'acme'", "NULL")) {
            admin(
                    "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES (%s, 'a', 'x')"
                            .formatted(tenant));
            String meanwhile = now();
            admin("DELETE FROM broker.blocked_subject");
            minutesPass();
            for (Who asking : List.of(Who.AUDITOR, Who.ADMIN, Who.TENANT_ADMIN)) {
                assertEquals(1, who(asking, meanwhile).size(), asking + " " + tenant);
                assertEquals(List.of("a", "b"), who(asking, now()));
            }
        }
    }

    @Test
    void a_change_is_uncertain_for_two_minutes() {
        grant("a");
        minutesPass();
        grant("b");
        String made = now();
        assertEquals(List.of("a", "b?"), who(made));
        minutesPass();
        assertEquals(List.of("a", "b?"), who(made));
        assertEquals(List.of("a", "b"), who(now()));
        String recorded =
                database.value(
                        "SELECT max(changed_at) + interval '%d minutes' FROM audit.config_change WHERE tenant = 'acme'"
                                .formatted(moved));
        assertEquals(List.of("a", "b?"), who(recorded));
        assertEquals(List.of("a", "b?"), who(later(recorded, "119.999999 s")));
        assertEquals(List.of("a", "b"), who(later(recorded, "120 s")));
    }

    private static String later(String time, String by) {
        return database.value("SELECT timestamptz '%s' + interval '%s'".formatted(time, by));
    }

    @Test
    void a_change_of_all_tenants_makes_uncertain_what_it_allowed() {
        grant("a");
        grant("b");
        admin("INSERT INTO broker.blocked_subject (subject, reason) VALUES ('a', 'x')");
        minutesPass();
        admin("DELETE FROM broker.blocked_subject");
        String made = now();
        for (Who asking : List.of(Who.AUDITOR, Who.TENANT_ADMIN)) {
            assertEquals(List.of("a?", "b"), who(asking, made));
        }
    }

    /** Each is as it was two minutes before; which of the edits was committed isn't known. */
    @Test
    void what_was_switched_off_and_on_again_is_uncertain() {
        grant("a");
        for (String edit :
                List.of(
                        "UPDATE broker.subject_grant SET enabled = %s WHERE key = '" + key + "'",
                        "UPDATE broker.key SET enabled = %s WHERE name = '" + key + "'",
                        "UPDATE broker.access_provider SET enabled = %s WHERE name = 'own'",
                        "UPDATE broker.identity_provider SET enabled = %s WHERE name = 'ci'",
                        "UPDATE broker.tenant SET enabled = %s WHERE name = 'acme'")) {
            minutesPass();
            String before = now();
            admin(edit.formatted("false"));
            admin(edit.formatted("true"));
            assertEquals(List.of("a?"), who(now()), edit);
            assertEquals(List.of("a"), who(before), edit);
        }
        minutesPass();
        admin("UPDATE broker.key SET description = 'x' WHERE name = '" + key + "'");
        assertEquals(List.of("a"), who(now()));
    }

    @Test
    void the_longest_life_of_a_types_credentials_counts_as_it_was() {
        grant("a");
        String before = now();
        database.runAsSuperuser(
                "UPDATE broker.provider_type SET max_duration = 400 WHERE type = 'jwt'");
        String meanwhile = now();
        database.runAsSuperuser(
                "UPDATE broker.provider_type SET max_duration = 43200 WHERE type = 'jwt'");
        assertEquals(List.of("400"), longest(meanwhile));
        assertEquals(List.of("600"), longest(before));
        assertEquals(List.of("600"), longest(now()));
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
        minutesPass();
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
                    "SELECT FROM audit.who_could_mint('acme', '%s', %s)".formatted(key, at(at)));
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
    void when_a_block_of_all_tenants_ends_its_admins_can_not_find_out() {
        grant("a");
        minutesPass();
        admin(
                "INSERT INTO broker.blocked_subject (subject, reason, until) VALUES ('a', 'x', now() + interval '1 hour')");
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
                "SELECT coalesce(condition, granted::text) FROM broker.explain('ci', 'a', '{}', at => %s) WHERE key = '%s'"
                        .formatted(at(at), key));
    }
}
