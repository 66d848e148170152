package io.mintmark.console.pages.statements;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.text.VisibleText;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The SQL that pages print is run as it is printed, with values that try to be more than values.
 */
@Tag("every-postgres")
class StatementsTest {
    private static final Outstanding NOTHING =
            new Outstanding(
                    Optional.empty(), Optional.empty(), List.of(), Optional.empty(), Instant.EPOCH);
    private static final Map<String, String> WORDS =
            Map.of(
                    "<identity provider>", "'ci'",
                    "<subject>", "'someone'",
                    "<email address>", "'somebody@example.com'",
                    "<reason>", "'OPS-1'");

    @AutoClose private static TestDatabase database;

    @BeforeAll
    static void setUp() {
        database = TestDatabase.migrated();
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('acme'), ('globex');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('ci', 'acme', 'https://issuer.example.com', '{mintmark}');
                INSERT INTO broker.access_provider (tenant, name, type) VALUES ('acme', 'own', 'jwt');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'api', 'own', 900, '{"audience": "https://api.example.com"}')
                """);
    }

    static Stream<String> hostile() {
        return Stream.of(
                "repo:acme/shop:ref:refs/heads/main",
                "'; DELETE FROM broker.tenant; --",
                "\\'; DELETE FROM broker.tenant; --",
                "\\",
                "a\\' || pg_sleep(9) || E\\'b",
                "$$; DROP SCHEMA broker; $$",
                ":name :'name' :\"name\" \\! \\q ?",
                "repo:\u202Eacme\u2066\u00A0x\u200B",
                "\\u0041 \\101 U&'\\0041'",
                "𝕏\uD83D\uDE00\uDB40\uDC41",
                "喵".repeat(1_024));
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void access_is_given_to_exactly_the_subject_that_is_shown_and_revoked_again(String subject) {
        for (String conforming : List.of("on", "off")) {
            run(conforming, Statements.give("acme", "ci", subject, Optional.empty(), "api"));

            assertEquals(List.of(subject), granted("enabled"), conforming);

            String id = database.value("SELECT id FROM broker.subject_grant WHERE enabled");
            run(conforming, Statements.revoke("acme", Long.parseLong(id), NOTHING));

            assertEquals(List.of(), granted("enabled"));
            database.admin("DELETE FROM broker.subject_grant");
            database.assertRows("SELECT count(*) FROM broker.tenant", "2");
        }
    }

    static Stream<Statements.Statement> withWordsToFillIn() {
        return Stream.of(
                Statements.give("acme", "ci", "someone", Optional.empty(), "api"),
                Statements.giveSomebody("acme", List.of("ci"), "api"),
                Statements.enable("acme", 1),
                Statements.extend("acme", 1),
                Statements.block("acme", Optional.of("ci"), "someone", NOTHING),
                Statements.blockLonger("acme", Optional.of("ci"), 1, NOTHING),
                Statements.letSee("acme"));
    }

    /** A word that is left to fill in is no SQL. */
    @ParameterizedTest
    @MethodSource("withWordsToFillIn")
    void a_statement_with_words_to_fill_in_does_not_run_before_all_are(
            Statements.Statement statement) {
        for (String left : WORDS.keySet()) {
            String half = filled(statement.sql(), left);
            if (!half.equals(filled(statement.sql(), ""))) {
                RuntimeException refusal =
                        assertThrows(RuntimeException.class, () -> database.admin(half));
                assertTrue(
                        String.valueOf(refusal.getCause()).contains("syntax error"),
                        refusal::toString);
            }
        }
        assertThrows(RuntimeException.class, () -> database.admin(statement.sql()), "unfilled");
    }

    @Test
    void a_statement_that_is_filled_in_with_what_is_not_there_gives_nothing() {
        String sql = filled(Statements.giveSomebody("acme", List.of("ci"), "api").sql(), "");

        assertThrows(
                RuntimeException.class,
                () -> database.admin(sql.replace(" 'ci', 'someone'", " 'no', 'someone'")));
        assertEquals(List.of(), granted("true"));
        database.admin(sql);
        assertEquals(List.of("someone"), granted("true"));
        database.admin("DELETE FROM broker.subject_grant");
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void exactly_the_subject_that_is_shown_is_blocked_and_a_block_that_is_there_stays_as_it_is(
            String subject) {
        for (String conforming : List.of("on", "off")) {
            run(conforming, Statements.block("acme", Optional.of("ci"), subject, NOTHING));
            database.admin("UPDATE broker.blocked_subject SET reason = 'the first'");
            run(conforming, Statements.block("acme", Optional.of("ci"), subject, NOTHING));

            assertEquals(List.of(subject), blocked("subject"), conforming);
            assertEquals(List.of("the first"), blocked("reason"), conforming);
            database.admin("DELETE FROM broker.blocked_subject");
        }
    }

    @Test
    void a_block_is_made_longer_and_keeps_its_reason() {
        database.admin(
                "INSERT INTO broker.blocked_subject (tenant, idp, subject, reason, until) VALUES"
                        + " ('acme', 'ci', 'someone', 'INC-1', now() + interval '1 hour')");
        long id = Long.parseLong(blocked("id").getFirst());

        run("on", Statements.blockLonger("acme", Optional.of("ci"), id, NOTHING));

        assertEquals(List.of("INC-1; OPS-1"), blocked("reason"));
        assertEquals(List.of("t"), blocked("until IS NULL"));
        database.admin("DELETE FROM broker.blocked_subject");
    }

    @ParameterizedTest
    @ValueSource(strings = {"2 days", "-2 days"})
    void a_grant_ends_thirty_days_later_also_if_it_has_ended(String end) {
        database.runAsSuperuser(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_from, valid_until, reason)
                VALUES ('acme', 'ci', 'ends', 'api', now() - interval '9 days', now() + interval '%s', 'OPS-0');
                """
                        .formatted(end));
        String id = database.value("SELECT id FROM broker.subject_grant");

        run("on", Statements.extend("acme", Long.parseLong(id)));

        database.assertRows(
                "SELECT round(extract(epoch FROM valid_until - now()) / 86400)::int || ' days, ' || reason FROM broker.subject_grant",
                (end.startsWith("-") ? "30" : "32") + " days, OPS-0; OPS-1");
        database.admin("DELETE FROM broker.subject_grant");
    }

    @Test
    void a_grant_that_was_disabled_is_enabled_again() {
        run("on", Statements.give("acme", "ci", "someone", Optional.empty(), "api"));
        String id = database.value("SELECT id FROM broker.subject_grant");
        run("on", Statements.revoke("acme", Long.parseLong(id), NOTHING));

        run("on", Statements.give("acme", "ci", "someone", Optional.empty(), "api"));
        assertEquals(List.of(), granted("enabled"));
        run("on", Statements.enable("acme", Long.parseLong(id)));

        assertEquals(List.of("someone"), granted("enabled AND reason = 'OPS-1; OPS-1'"));
        database.admin("DELETE FROM broker.subject_grant");
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void a_literal_is_read_as_the_value_that_it_was_made_of(String value) throws SQLException {
        for (String conforming : List.of("on", "off")) {
            try (Connection connection = database.connect(Who.AUDITOR);
                    Statement statement = connection.createStatement()) {
                statement.execute("SET standard_conforming_strings = " + conforming);
                statement.setEscapeProcessing(false);
                try (ResultSet row = statement.executeQuery("SELECT " + SqlText.of(value))) {
                    assertTrue(row.next());
                    assertEquals(value, row.getString(1));
                }
            }
            assertTrue(SqlText.of(value).codePoints().noneMatch(VisibleText::isHidden));
        }
    }

    @Test
    void a_key_and_a_tenant_are_disabled_and_somebody_is_let_in() {
        run("on", Statements.disableKey("acme", "api", "jwt"));
        run("on", Statements.letSee("globex"));
        run("on", Statements.disableTenant("globex"));

        database.assertRows("SELECT enabled FROM broker.key", "f");
        database.assertRows("SELECT name FROM broker.tenant WHERE enabled", "acme");
        database.assertRows(
                "SELECT tenant || ' ' || value FROM broker.console_access",
                "globex \"somebody@example.com\"");
        run("on", new Statements.Statement("", "", "UPDATE broker.key SET enabled = true"));
    }

    private static List<String> granted(String condition) {
        return database.column("SELECT subject FROM broker.subject_grant WHERE " + condition);
    }

    private static List<String> blocked(String column) {
        return database.column("SELECT %s FROM broker.blocked_subject".formatted(column));
    }

    /** With each word filled in but one; the words of comments too, which does no harm. */
    private static String filled(String sql, String left) {
        String text = sql;
        for (Map.Entry<String, String> word : WORDS.entrySet()) {
            text = word.getKey().equals(left) ? text : text.replace(word.getKey(), word.getValue());
        }
        return text;
    }

    private static void run(String conforming, Statements.Statement statement) {
        database.admin(
                "SET standard_conforming_strings = %s; %s"
                        .formatted(conforming, filled(statement.sql(), "")));
    }
}
