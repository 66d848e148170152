package io.mintmark.broker.catalogue;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
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

/** When lint warns and what broker.lint lists; LintVectorsTest has the rules. */
@Tag("every-postgres")
class LintTest {
    private static final String GRANTS =
            """
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
            SELECT 'acme', 'ci', %s, 'deploy', %s FROM generate_series(1, %d) AS n
            """;
    private static final String LISTED =
            "SELECT concat_ws(' ', table_name, name, rule) FROM broker.lint ORDER BY 1";

    @AutoClose private TestDatabase database;

    @BeforeEach
    void setUp() throws IOException {
        database = TestDatabase.filled(SqlCase.script("lint", "setup"));
    }

    private void admin(String sql) {
        database.admin(sql);
    }

    /** A statement that only should warn doesn't fail for a part of the warning. */
    @Test
    void a_missing_part_of_a_text_is_shown_as_such() {
        database.assertRows(
                "SELECT internal.lint_advice('unlikely_network', '10.0.0.0/8')",
                "The network 10.0.0.0/8 ….");
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
                warnings.add(SqlCase.rowAndRule(String.valueOf(one.getMessage())));
            }
            return warnings;
        }
    }

    private static String warning(String subject, String rule) {
        return "Grant of key \"deploy\" to \"%s\": %s".formatted(subject, rule);
    }

    @Test
    void a_key_is_listed_while_its_last_credential_lived_shorter_than_asked_for() {
        AuditRows.append(database, "lint/1", AuditRows.mint("ci:main", "{}"));
        assertEquals(List.of(), shortKeys());
        AuditRows.append(database, "lint/2", AuditRows.shortLived("ci:main", "20 s of 3600 s"));
        assertEquals(
                List.of(
                        "deploy: The last credential of this key was valid for a shorter time"
                                + " than the broker asked for: 20 s of 3600 s. Clients renew"
                                + " earlier than max_duration suggests. Set max_duration to what"
                                + " the provider gives, or raise the provider's limit."),
                shortKeys());
        AuditRows.append(database, "lint/3", AuditRows.mint("ci:main", "{}"));
        assertEquals(List.of(), shortKeys());
    }

    private List<String> shortKeys() {
        return database.column(
                Who.ADMIN,
                "SELECT concat(name, ': ', advice) FROM broker.lint WHERE rule ="
                        + " 'shorter_than_asked'");
    }

    @Test
    void ten_warnings_of_a_statement_are_shown_and_then_their_number() throws SQLException {
        List<String> warnings = warningsOf(Who.ADMIN, GRANTS.formatted("'s' || n", "NULL", 10));
        assertEquals(
                IntStream.rangeClosed(1, 10).mapToObj(n -> warning("s" + n, "no_reason")).toList(),
                warnings);
        assertEquals(
                "10 of 11 warnings are shown.",
                warningsOf(Who.ADMIN, GRANTS.formatted("'t' || n", "NULL", 11)).getLast());
    }

    @Test
    void the_hint_lists_what_a_statement_found_and_reads_no_other_table() throws SQLException {
        String ofGrants = hintOf(GRANTS.formatted("'t' || n", "NULL", 11));
        assertEquals("SELECT * FROM broker.lint WHERE table_name = 'subject_grant';", ofGrants);
        assertEquals(11, database.column(Who.ADMIN, ofGrants).size());
        assertFalse(plan(ofGrants).contains("lint_identity_provider"), () -> plan(ofGrants));
        assertTrue(plan("SELECT * FROM broker.lint").contains("lint_identity_provider"));
        String ofKeys =
                hintOf(
                        """
                        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                        SELECT 'acme', 'one-' || n, 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/one"}'
                          FROM generate_series(1, 11) AS n
                        """);
        assertEquals("SELECT * FROM broker.lint WHERE tenant = 'acme';", ofKeys);
        assertEquals(22, database.column(Who.ADMIN, ofKeys).size());
        admin(
                "INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('other', 'aws', 'aws-sts', '{\"region\": \"eu-central-1\"}')");
        String ofTwo =
                hintOf(
                        """
                        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                        SELECT t, 'many-' || n, 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/many"}'
                          FROM generate_series(1, 6) AS n, unnest('{acme,other}'::text[]) AS t
                        """);
        assertEquals("SELECT * FROM broker.lint WHERE table_name IN ('key');", ofTwo);
        assertFalse(plan(ofTwo).contains("lint_identity_provider"), () -> plan(ofTwo));
        String ofTenant =
                hintOf("UPDATE broker.tenant SET max_duration = 1800 WHERE name = 'acme'");
        assertEquals("SELECT * FROM broker.lint WHERE tenant = 'acme';", ofTenant);
        assertTrue(
                database.column(Who.ADMIN, ofTenant.replace("*", "DISTINCT table_name"))
                        .contains("key"));
        database.assertRows(
                "SELECT internal.linted_rows('tenant', '{acme,other}', true)",
                "table_name IN ('tenant', 'key')");
        database.assertRows(
                "SELECT internal.linted_rows('key', '{acme,other}', true)",
                "table_name IN ('key', 'subject_grant', 'access_rule')");
    }

    /** The statement in the hint of a statement's last warning. */
    private String hintOf(String sql) throws SQLException {
        try (Connection connection = database.connect(Who.ADMIN);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
            SQLWarning last = statement.getWarnings();
            while (last.getNextWarning() != null) {
                last = last.getNextWarning();
            }
            String hint = ((PSQLWarning) last).getServerErrorMessage().getHint();
            assertTrue(hint.startsWith("To list them: "), hint);
            return hint.substring("To list them: ".length());
        }
    }

    private String plan(String sql) {
        return String.join("\n", database.column(Who.ADMIN, "EXPLAIN " + sql));
    }

    @Test
    void no_rule_hides_behind_many_warnings_of_another() throws SQLException {
        List<String> warnings =
                warningsOf(
                        Who.ADMIN,
                        GRANTS.formatted(
                                "CASE n WHEN 500 THEN 'repo:acme/*' ELSE 's' || n END",
                                "NULL",
                                500));
        assertEquals(11, warnings.size());
        assertTrue(
                warnings.contains(warning("repo:acme/*", "glob_sign_in_exact_subject")),
                warnings::toString);
        assertEquals("10 of 501 warnings are shown.", warnings.getLast());
    }

    @Test
    void rows_without_findings_give_no_warning() throws SQLException {
        assertEquals(
                List.of(), warningsOf(Who.ADMIN, GRANTS.formatted("'s' || n", "'OPS-1'", 200)));
    }

    @Test
    void an_update_warns_and_removes_what_it_corrects() throws SQLException {
        admin(GRANTS.formatted("'repo:acme/shop:ref:refs/heads/main'", "'OPS-1'", 1));
        database.assertRows(LISTED);
        assertEquals(
                List.of(warning("repo:acme/shop:*", "glob_sign_in_exact_subject")),
                warningsOf(
                        Who.ADMIN, "UPDATE broker.subject_grant SET subject = 'repo:acme/shop:*'"));
        database.assertRows(LISTED, "subject_grant 1 glob_sign_in_exact_subject");
        assertEquals(
                List.of(), warningsOf(Who.ADMIN, "UPDATE broker.subject_grant SET match = 'glob'"));
        database.assertRows(LISTED);
    }

    @Test
    void a_grant_that_ended_after_it_was_written_is_not_listed_as_ended() {
        admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, valid_until)
                VALUES ('acme', 'ci', 'x', 'deploy', 'OPS-1', clock_timestamp() + interval '50 ms')
                """);
        String ended = "SELECT valid_until <= clock_timestamp() FROM broker.subject_grant";
        Eventually.holds(() -> database.column(ended).equals(List.of("t")));
        database.assertRows(LISTED, "subject_grant 1 never_long_enough");
    }

    @Test
    void a_key_that_becomes_shorter_is_linted_with_its_grants() {
        admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, max_duration)
                VALUES ('acme', 'ci', 'long', 'deploy', 'OPS-1', 3600), ('acme', 'ci', 'short', 'deploy', 'OPS-1', 900)
                """);
        database.assertRows(LISTED);
        admin("UPDATE broker.key SET max_duration = 1800");
        database.assertRows(LISTED, "subject_grant 1 longer_than_its_key");
    }

    @Test
    void a_key_with_another_limit_is_linted_with_the_grants_above_the_limit() {
        admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration)
                VALUES ('acme', 'ci', 'long', 'deploy', 3600), ('acme', 'ci', 'short', 'deploy', 900)
                """);
        String rows =
                "SELECT f.ctid FROM internal.lint_finding AS f JOIN broker.subject_grant AS g USING"
                        + " (id) WHERE g.subject = '%s'";
        List<String> short1 = database.column(rows.formatted("short"));
        List<String> long1 = database.column(rows.formatted("long"));
        admin("UPDATE broker.key SET max_duration = 1800");
        assertEquals(short1, database.column(rows.formatted("short")));
        assertNotEquals(long1, database.column(rows.formatted("long")));
        String detail =
                "SELECT detail FROM internal.lint_finding WHERE rule = 'longer_than_its_key'";
        database.assertRows(detail, "deploy\n1800");
        admin("UPDATE broker.key SET max_duration = 2400");
        database.assertRows(detail, "deploy\n2400");
        admin("UPDATE broker.key SET max_duration = 3600");
        database.assertRows(detail);
    }

    /** The database knows the broker's issuer from the notes of checkpoints. */
    @Test
    void an_identity_provider_whose_issuer_is_the_broker_is_named() throws SQLException {
        String own =
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('%s', 'third', '%s', '{%1$s}')
                """;
        assertEquals(
                List.of(),
                warningsOf(Who.ADMIN, own.formatted("early", "https://mint.example.com/b")));
        database.run(
                Who.APP,
                """
                INSERT INTO log.checkpoint (number, sealed_at, jws, note)
                VALUES (1, now(), 'a.b.c', E'mint.example.com/b/audit/2\\n1\\nroot\\n')
                """);
        database.assertRows(LISTED, "identity_provider early issuer_is_the_broker");
        assertEquals(
                List.of("Identity provider \"tenants\": issuer_is_the_broker"),
                warningsOf(
                        Who.ADMIN,
                        own.formatted("tenants", "https://mint.example.com/b/tenants/acme")));
        assertEquals(
                List.of(),
                warningsOf(Who.ADMIN, own.formatted("other", "https://mint.example.com/bb")));
        assertEquals(
                List.of(),
                warningsOf(Who.ADMIN, own.formatted("host", "https://mint.example.com")));
    }

    @Test
    void the_rarer_spelling_of_an_issuer_is_listed() {
        String near =
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('%s', '%s', '%s', '{%1$s}')
                """;
        admin(near.formatted("slash", "third", "https://ci.example.com/"));
        database.assertRows(LISTED, "identity_provider slash issuer_nearly_known");
        admin(near.formatted("right", "third", "https://ci.example.com"));
        database.assertRows(LISTED, "identity_provider slash issuer_nearly_known");
        admin("DELETE FROM broker.identity_provider WHERE issuer = 'https://ci.example.com'");
        database.assertRows(LISTED);
    }

    @Test
    void many_identity_providers_of_one_statement_are_warned_of_as_a_few_are() throws SQLException {
        for (int count : List.of(100, 101)) {
            List<String> warnings =
                    warningsOf(
                            Who.ADMIN,
                            """
                            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims)
                            SELECT 'of-%1$d-' || n, 'third', 'https://agent.buildkite.com/', ARRAY['of-%1$d-' || n],
                                   '{"organization_id": "0189"}'
                              FROM generate_series(1, %1$d) AS n
                            """
                                    .formatted(count));
            assertTrue(
                    warnings.contains(
                            "Identity provider \"of-%d-1\": issuer_nearly_known".formatted(count)),
                    warnings::toString);
        }
    }

    @Test
    void tenant_admins_see_their_own_findings_and_no_issuers_of_other_tenants()
            throws SQLException {
        admin(
                """
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('third', 'test_tenant_admin');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('slash', 'third', 'https://ci.example.com/', '{third}');
                """);
        admin(GRANTS.formatted("'repo:acme/*'", "'OPS-1'", 1));
        assertEquals(2, database.column(Who.ADMIN, LISTED).size());
        database.assertRows(Who.TENANT_ADMIN, LISTED);
        admin(
                """
                DELETE FROM broker.tenant_admin;
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin')
                """);
        database.assertRows(Who.TENANT_ADMIN, LISTED, "subject_grant 1 glob_sign_in_exact_subject");
        assertEquals(
                List.of(warning("x", "no_reason")),
                warningsOf(Who.TENANT_ADMIN, GRANTS.formatted("'x'", "''", 1)));
    }

    @Test
    void a_warning_is_never_about_another_tenants_row_of_the_same_name() throws SQLException {
        admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('bank');
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('bank', 'aws', 'aws-sts', '{"region": "eu-central-1"}')
                """);
        String key =
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('%s', 'twin', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/twin"%s}')
                """;
        String policy = ", \"policy\": {\"Statement\": []}";

        assertEquals(
                List.of("Key \"twin\": incomplete_policy"),
                warningsOf(Who.ADMIN, key.formatted("bank", policy)));
        assertEquals(List.of(), warningsOf(Who.ADMIN, key.formatted("acme", "")));
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
        assertShows(
                message,
                "Identity provider \"third\": the issuer \"https://auth.third.example/\" differs"
                        + " only by case or a slash from \"https://AUTH.third.example\"");
    }

    @Test
    void a_statement_that_changes_over_a_hundred_rows_is_told_so() throws SQLException {
        admin(GRANTS.formatted("'s' || n", "'OPS-1'", 101));
        assertEquals(
                List.of(
                        "This UPDATE affected 101 rows of broker.subject_grant: rows of one tenant."),
                warningsOf(Who.ADMIN, "UPDATE broker.subject_grant SET reason = 'OPS-2'"));
        assertEquals(
                List.of(),
                warningsOf(
                        Who.ADMIN,
                        "UPDATE broker.subject_grant SET reason = 'OPS-3' WHERE subject <> 's7'"));
        assertEquals(
                List.of(
                        "This DELETE affected 101 rows of broker.subject_grant: rows of one tenant."),
                warningsOf(Who.ADMIN, "DELETE FROM broker.subject_grant"));
    }

    @Test
    void a_statement_that_changes_more_than_one_tenant_is_told_so() throws SQLException {
        assertEquals(
                List.of("This UPDATE affected 3 rows of broker.tenant: rows of 3 tenants."),
                warningsOf(Who.ADMIN, "UPDATE broker.tenant SET max_keys = 7"));
        assertEquals(
                List.of(
                        "This DELETE affected 2 rows of broker.identity_provider: rows of 2 tenants."),
                warningsOf(
                        Who.ADMIN,
                        "DELETE FROM broker.identity_provider WHERE name IN ('ci', 'third')"));
        assertEquals(
                List.of(),
                warningsOf(Who.ADMIN, "UPDATE broker.tenant SET max_keys = 8 WHERE name = 'acme'"));
    }

    @Test
    void the_findings_of_a_tenant_are_found_along_an_index_whoever_asks() {
        database.runAsSuperuser(
                """
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin');
                INSERT INTO internal.lint_finding (table_name, id, tenant, rule)
                SELECT 'subject_grant', n, CASE WHEN n % 5000 = 0 THEN 'acme' ELSE 'other' END, 'no_reason'
                  FROM generate_series(1, 20000) AS n;
                ANALYZE;
                """);
        for (Who who : List.of(Who.ADMIN, Who.TENANT_ADMIN, Who.AUDITOR)) {
            String plan =
                    String.join(
                            "\n",
                            database.column(
                                    who,
                                    "EXPLAIN SELECT * FROM broker.lint WHERE tenant = 'acme'"));
            assertTrue(plan.contains("findings_of_a_tenant"), who + "\n" + plan);
            assertFalse(plan.contains("Seq Scan on lint_finding"), who + "\n" + plan);
            database.assertRows(who, "SELECT count(*) FROM broker.lint WHERE tenant = 'acme'", "4");
        }
    }

    @Test
    void another_issuer_is_another_form_of_subjects() {
        admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason)
                VALUES ('acme', 'ci', 'team:ops', 'exact', 'deploy', 'OPS-1'), ('acme', 'ci', 'repo:acme/*:**', 'glob', 'deploy', 'OPS-1')
                """);
        database.assertRows(LISTED, "subject_grant 2 whole_organisation");
        admin(
                """
                UPDATE broker.identity_provider
                   SET issuer = 'https://token.actions.githubusercontent.com', audiences = '{acme-2}',
                       required_claims = '{"repository_id": "99"}'
                 WHERE name = 'ci'
                """);
        database.assertRows(
                LISTED,
                "subject_grant 1 subject_fits_no_form",
                "subject_grant 2 github_subject_by_name");
    }

    @Test
    void what_is_deleted_or_disabled_is_not_listed() {
        admin(GRANTS.formatted("'s' || n", "NULL", 2));
        admin(
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme',"
                        + " 'nobody', 'INC-1')");
        assertEquals(3, database.column(LISTED).size());
        admin("DELETE FROM broker.subject_grant WHERE subject = 's1'");
        admin("UPDATE broker.subject_grant SET enabled = false");
        admin("DELETE FROM broker.blocked_subject");
        database.assertRows(LISTED);
        database.assertRows(Who.OWNER, "SELECT count(*) FROM internal.lint_finding", "0");
    }

    /** For each row, the rows with an issuer that is nearly spelled so would be read again. */
    @Test
    void the_whole_view_reads_the_spellings_of_issuers_once() {
        assertFalse(plan("(VERBOSE) TABLE broker.lint").contains("usual_spellings_of"));
        assertTrue(
                plan("(VERBOSE) TABLE internal.lint_of_few_identity_providers")
                        .contains("usual_spellings_of"));
    }
}
