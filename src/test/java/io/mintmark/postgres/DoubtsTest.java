package io.mintmark.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Eventually;
import io.mintmark.postgres.TestDatabase.Who;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.util.PSQLWarning;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** How doubts are told and where they stand; the words are held to vectors elsewhere. */
@Tag("every-postgres")
class DoubtsTest {
    private static final String GRANTS =
            """
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
            SELECT 'acme', 'ci', %s, 'deploy', %s FROM generate_series(1, %d) AS n
            """;
    private static final String STANDING =
            "SELECT concat_ws(' ', table_name, name, rule) FROM broker.lint ORDER BY 1";

    private TestDatabase database;

    @BeforeEach
    void setUp() throws IOException {
        database = TestDatabase.migrated();
        database.run(Who.ADMIN, SqlCase.script("doubts", "setup"));
    }

    @AfterEach
    void close() {
        database.close();
    }

    private void admin(String sql) {
        database.run(Who.ADMIN, sql);
    }

    /** What a statement warned of. */
    private List<String> warningsOf(Who who, String sql) throws SQLException {
        try (Connection connection = database.connect(who);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
            List<String> warnings = new ArrayList<>();
            for (SQLWarning one = statement.getWarnings();
                    one != null;
                    one = one.getNextWarning()) {
                warnings.add(String.valueOf(one.getMessage()));
            }
            return warnings;
        }
    }

    private static String doubtful(String subject, String word) {
        return "The grant of key \"deploy\" to \"%s\" is doubtful: %s.".formatted(subject, word);
    }

    @Test
    void ten_doubts_of_a_statement_are_told_and_then_how_many_there_are() throws SQLException {
        List<String> warnings = warningsOf(Who.ADMIN, GRANTS.formatted("'s' || n", "NULL", 10));
        assertEquals(
                IntStream.rangeClosed(1, 10).mapToObj(n -> doubtful("s" + n, "no_reason")).toList(),
                warnings);
        assertEquals(
                "These were 10 of 11 doubts about this statement: 11 no_reason.",
                warningsOf(Who.ADMIN, GRANTS.formatted("'t' || n", "NULL", 11)).getLast());
    }

    @Test
    void who_is_told_that_there_are_more_is_told_where_they_stand() throws SQLException {
        String blocks =
                """
                INSERT INTO broker.blocked_subject (tenant, subject, reason)
                SELECT %s, 's*' || n, 'INC-1' FROM generate_series(1, 11) AS n
                """;
        assertEquals(
                "All of them: SELECT * FROM broker.lint WHERE tenant IS NULL;",
                lastHintOf(blocks.formatted("NULL")));
        assertEquals(
                "All of them: SELECT * FROM broker.lint WHERE tenant = 'acme';",
                lastHintOf(blocks.formatted("'acme'")));
    }

    private String lastHintOf(String sql) throws SQLException {
        try (Connection connection = database.connect(Who.ADMIN);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
            String hint = "";
            for (SQLWarning one = statement.getWarnings();
                    one != null;
                    one = one.getNextWarning()) {
                hint = String.valueOf(((PSQLWarning) one).getServerErrorMessage().getHint());
            }
            return hint;
        }
    }

    @Test
    void no_doubt_hides_behind_many_of_another() throws SQLException {
        List<String> warnings =
                warningsOf(
                        Who.ADMIN,
                        GRANTS.formatted(
                                "CASE n WHEN 500 THEN 'repo:acme/*' ELSE 's' || n END",
                                "NULL",
                                500));
        assertEquals(11, warnings.size());
        assertTrue(
                warnings.contains(doubtful("repo:acme/*", "glob_sign_in_exact_subject")),
                warnings.toString());
        assertEquals(
                "These were 10 of 501 doubts about this statement: 1 glob_sign_in_exact_subject,"
                        + " 500 no_reason.",
                warnings.getLast());
    }

    @Test
    void what_is_meant_as_it_is_written_passes_in_silence() throws SQLException {
        assertEquals(
                List.of(), warningsOf(Who.ADMIN, GRANTS.formatted("'s' || n", "'OPS-1'", 200)));
    }

    @Test
    void a_change_that_brings_a_doubt_tells_it_and_one_that_mends_it_ends_it() throws SQLException {
        admin(GRANTS.formatted("'repo:acme/shop:ref:refs/heads/main'", "'OPS-1'", 1));
        assertEquals(List.of(), database.column(STANDING));
        assertEquals(
                List.of(doubtful("repo:acme/shop:*", "glob_sign_in_exact_subject")),
                warningsOf(
                        Who.ADMIN, "UPDATE broker.subject_grant SET subject = 'repo:acme/shop:*'"));
        assertEquals(
                List.of("subject_grant 1 glob_sign_in_exact_subject"), database.column(STANDING));
        assertEquals(
                List.of(), warningsOf(Who.ADMIN, "UPDATE broker.subject_grant SET match = 'glob'"));
        assertEquals(List.of(), database.column(STANDING));
    }

    @Test
    void a_grant_that_ended_in_its_time_is_not_in_doubt() {
        admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, valid_until)
                VALUES ('acme', 'ci', 'x', 'deploy', 'OPS-1', clock_timestamp() + interval '50 ms')
                """);
        String ended = "SELECT valid_until <= clock_timestamp() FROM broker.subject_grant";
        Eventually.holds(() -> database.column(ended).equals(List.of("t")));
        assertEquals(List.of(), database.column(STANDING));
    }

    @Test
    void a_key_that_becomes_shorter_leaves_its_longer_grants_in_doubt() {
        admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, max_duration)
                VALUES ('acme', 'ci', 'long', 'deploy', 'OPS-1', 3600), ('acme', 'ci', 'short', 'deploy', 'OPS-1', 900)
                """);
        assertEquals(List.of(), database.column(STANDING));
        admin("UPDATE broker.key SET max_duration = 1800");
        assertEquals(List.of("subject_grant 1 longer_than_its_key"), database.column(STANDING));
    }

    @Test
    void of_two_spellings_of_an_issuer_the_rarer_is_in_doubt() {
        String near =
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('%s', '%s', '%s', '{%1$s}')
                """;
        admin(near.formatted("slash", "third", "https://ci.example.com/"));
        List<String> slash = List.of("identity_provider slash issuer_nearly_known");
        assertEquals(slash, database.column(STANDING));
        admin(near.formatted("right", "third", "https://ci.example.com"));
        assertEquals(slash, database.column(STANDING));
        admin("DELETE FROM broker.identity_provider WHERE issuer = 'https://ci.example.com'");
        assertEquals(List.of(), database.column(STANDING));
    }

    @Test
    void a_tenant_admin_sees_her_doubts_and_learns_nothing_of_others_issuers() throws SQLException {
        admin(
                """
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('third', 'test_tenant_admin');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('slash', 'third', 'https://ci.example.com/', '{third}');
                """);
        admin(GRANTS.formatted("'repo:acme/*'", "'OPS-1'", 1));
        assertEquals(2, database.column(Who.ADMIN, STANDING).size());
        assertEquals(List.of(), database.column(Who.TENANT_ADMIN, STANDING));
        admin(
                """
                DELETE FROM broker.tenant_admin;
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin')
                """);
        assertEquals(
                List.of("subject_grant 1 glob_sign_in_exact_subject"),
                database.column(Who.TENANT_ADMIN, STANDING));
        assertEquals(
                List.of(doubtful("x", "no_reason")),
                warningsOf(Who.TENANT_ADMIN, GRANTS.formatted("'x'", "''", 1)));
    }

    @Test
    void an_issuer_that_is_listed_as_shared_is_held_against_all_spellings_of_it() {
        String list =
                """
                INSERT INTO broker.shared_issuer (issuer, owner_claims)
                VALUES ('https://AUTH.third.example', '{org}')
                """;
        IllegalStateException refused =
                assertThrows(IllegalStateException.class, () -> admin(list));
        String message = String.valueOf(String.valueOf(refused.getCause()));
        assertTrue(
                message.contains(
                        "Identity provider \"third\": the issuer \"https://auth.third.example/\" is,"
                                + " but for case or a slash, \"https://AUTH.third.example\""),
                message);
    }

    @Test
    void a_statement_that_changes_over_a_hundred_rows_is_told_so() throws SQLException {
        admin(GRANTS.formatted("'s' || n", "'OPS-1'", 101));
        assertEquals(
                List.of("This UPDATE changed 101 rows of broker.subject_grant, of one tenant."),
                warningsOf(Who.ADMIN, "UPDATE broker.subject_grant SET reason = 'OPS-2'"));
        assertEquals(
                List.of(),
                warningsOf(
                        Who.ADMIN,
                        "UPDATE broker.subject_grant SET reason = 'OPS-3' WHERE subject <> 's7'"));
        assertEquals(
                List.of("This DELETE changed 101 rows of broker.subject_grant, of one tenant."),
                warningsOf(Who.ADMIN, "DELETE FROM broker.subject_grant"));
    }

    @Test
    void a_statement_that_changes_more_than_one_tenant_is_told_so() throws SQLException {
        assertEquals(
                List.of("This UPDATE changed 3 rows of broker.tenant, of 3 tenants."),
                warningsOf(Who.ADMIN, "UPDATE broker.tenant SET max_keys = 7"));
        assertEquals(
                List.of("This DELETE changed 2 rows of broker.identity_provider, of 2 tenants."),
                warningsOf(
                        Who.ADMIN,
                        "DELETE FROM broker.identity_provider WHERE name IN ('ci', 'third')"));
        assertEquals(
                List.of(),
                warningsOf(Who.ADMIN, "UPDATE broker.tenant SET max_keys = 8 WHERE name = 'acme'"));
    }

    @Test
    void doubts_of_a_tenant_are_found_along_indexes_whoever_asks() {
        database.runAsSuperuser(
                """
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin');
                ALTER TABLE broker.subject_grant DISABLE TRIGGER ALL;
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, max_duration)
                SELECT 'acme', 'ci', 's' || n, 'deploy', CASE WHEN n %% 5000 > 0 THEN 'OPS-1' END, 900
                  FROM generate_series(1, 20000) AS n;
                ALTER TABLE broker.subject_grant ENABLE TRIGGER ALL;
                ANALYZE;
                """
                        .replace("%%", "%"));
        for (Who who : List.of(Who.ADMIN, Who.TENANT_ADMIN, Who.AUDITOR)) {
            String plan =
                    String.join(
                            "\n",
                            database.column(
                                    who,
                                    "EXPLAIN SELECT * FROM broker.lint WHERE tenant = 'acme'"));
            for (String index :
                    List.of("grants_in_doubt", "grants_without_reason", "grants_with_a_duration")) {
                assertTrue(plan.contains(index), who + "\n" + plan);
            }
            assertFalse(plan.contains("Seq Scan on subject_grant"), who + "\n" + plan);
            assertEquals(4, database.column(who, STANDING).size(), who.toString());
        }
    }
}
