package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * An approver whose vote would be a program's, or would be refused, is no person who can approve.
 */
class PeopleWhoCanApproveTest {
    private static final String RULE =
            """
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings, owner)
            VALUES ('acme', 'vault', 'own', 600, '{"audience": "https://vault.example.com"}', 'team');
            INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access)
            VALUES ('acme', 'vault', 'sso', 'dev:**', 'glob', 7200);
            """;

    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT, RULE);

    private final AskedAccess asked = new AskedAccess(database);

    private void approvers(String rows) {
        for (String row : rows.split(";", -1)) {
            database.admin(
                    "INSERT INTO broker.access_approver (rule, "
                            + row.strip().substring(1).replace("VALUES (", "VALUES (4, "));
        }
    }

    private String votes(String request) {
        return asked.one(
                asked.decision("sso", "lead:ann", request, "approve")
                        .replace("'{}'", "'{\"groups\": \"leads\"}'")
                        .replace("'approve', NULL", "'approve', 'INC-7'"));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    too short for the request  | (idp, subject, program, max_access) VALUES ('sso', 'lead:ann', true, 900)
                    a glob                     | (idp, subject, match, program) VALUES ('sso', 'lead:*', 'glob', true)
                    a glob of her claims       | (idp, subject, match, claims, program) VALUES ('sso', 'lead:*', 'glob', '{"groups": "leads"}', true)
                    of the console's tokens    | (idp, subject, program) VALUES ('console', 'lead:ann', true)
                    a login that is her        | (role_name, idp, subject) VALUES ('test_admin', 'sso', 'lead:ann'); (role_name, program) VALUES ('test_admin', true)
                    """)
    void an_approver_whom_another_row_marks_as_a_program_is_no_person(String what, String rows) {
        approvers(
                "(idp, subject, claims) VALUES ('sso', 'lead:ann', '{\"groups\": \"leads\"}');"
                        + rows);
        assertEquals(
                "nobody_can_approve",
                asked.one(asked.request("dev:eve", "vault", 3600, "refusal")),
                what);
        // so it is: with people at 0, the vote is a program's
        database.admin("UPDATE broker.access_rule SET people = 0 WHERE id = 4");
        assertEquals("granted", votes(asked.asks("dev:eve", "vault", 3600)));
        database.assertRows("SELECT program FROM broker.access_decision", "t");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    another subject        | (idp, subject, program) VALUES ('sso', 'lead:bot', true)
                    another glob           | (idp, subject, match, program) VALUES ('sso', 'bot:*', 'glob', true)
                    a glob of other claims | (idp, subject, match, claims, program) VALUES ('sso', 'lead:*', 'glob', '{"groups": "bots"}', true)
                    """)
    void an_approver_beside_a_program_is_a_person(String what, String rows) {
        approvers(
                "(idp, subject, claims) VALUES ('sso', 'lead:ann', '{\"groups\": \"leads\"}');"
                        + rows);
        assertEquals("granted", votes(asked.asks("dev:eve", "vault", 3600)), what);
        database.assertRows("SELECT program FROM broker.access_decision", "f");
    }

    /** With a token that has other claims she is a person. */
    @Test
    void an_approver_who_is_a_program_by_some_tokens_alone_is_a_person() {
        approvers(
                "(idp, subject) VALUES ('sso', 'lead:ann');"
                        + "(idp, subject, match, claims, program) VALUES ('sso', 'lead:*', 'glob', '{\"groups\": \"bots\"}', true)");
        String request = asked.asks("dev:eve", "vault", 3600);
        assertEquals("granted", votes(request));
        database.assertRows("SELECT program FROM broker.access_decision", "f");
    }

    /** Without approval, a row lets nobody decide; but it says already who is a program. */
    @ParameterizedTest
    @CsvSource({"lead:ann, exact", "lead:*, glob"})
    void a_row_of_a_program_counts_as_one_while_it_awaits_approval(String subject, String match) {
        approvers("(idp, subject) VALUES ('sso', 'lead:ann')");
        database.admin("UPDATE broker.tenant SET require_second_admin = true WHERE name = 'acme'");
        assertEquals("null", asked.one(asked.request("dev:eve", "vault", 600, "refusal")));
        approvers(
                "(idp, subject, match, program) VALUES ('console', '%s', '%s', true)"
                        .formatted(subject, match));
        String refused =
                asked.one(asked.request("dev:jim", "vault", 600, "refusal || ' ' || detail"));
        assertTrue(
                refused.startsWith("nobody_can_approve")
                        && refused.contains("awaits the approval of a second admin"),
                refused);
    }

    @ParameterizedTest
    @CsvSource({
        "lead:*, {}, nobody_can_approve",
        "lead:**, {}, nobody_can_approve",
        "lead:*, '{\"groups\": \"bots\"}', null",
        "bot:*, {}, null"
    })
    void people_of_a_glob_are_programs_if_a_glob_of_programs_covers_it(
            String programs, String claims, String refusal) {
        approvers(
                "(idp, subject, match) VALUES ('sso', 'lead:*', 'glob');"
                        + "(idp, subject, match, claims, program) VALUES ('console', '%s', 'glob', '%s', true)"
                                .formatted(programs, claims));
        assertEquals(refusal, asked.one(asked.request("dev:eve", "vault", 600, "refusal")));
    }

    /** A block is of the person, by whichever login or subject the person decides. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    the subject of a login         | (role_name, idp, subject) VALUES ('test_admin', 'sso', 'lead:ann')      | lead:ann | exact
                    of the console's tokens        | (idp, subject) VALUES ('console', 'lead:ann')                         | lead:ann | exact
                    another subject of the person  | (role_name, idp, subject) VALUES ('test_admin', 'sso', 'lead:ann'); (role_name, idp, subject) VALUES ('test_admin', 'sso', 'lead:adm') | lead:ann | exact
                    by a glob                      | (idp, subject, match) VALUES ('sso', 'lead:*', 'glob')                | lead:**  | glob
                    """)
    void a_blocked_person_can_approve_nothing(
            String what, String rows, String blocked, String match) {
        approvers(rows);
        assertNotEquals("", asked.asks("dev:eve", "vault", 600));
        database.admin(
                "INSERT INTO broker.blocked_subject (tenant, idp, subject, match, reason) VALUES ('acme', 'sso', '%s', '%s', 'INC-1')"
                        .formatted(blocked, match));
        String refused =
                asked.one(asked.request("dev:jim", "vault", 600, "refusal || ' ' || detail"));
        assertTrue(
                refused.startsWith("nobody_can_approve") && refused.contains("is blocked"),
                what + ": " + refused);
    }

    /** By any name of the program: the other name would be a person's from then on. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    (role_name, program) VALUES ('test_admin', true)                          | (idp, subject) VALUES ('sso', 'lead:ann')                  | t
                    (role_name, program) VALUES ('test_admin', true)                          | (idp, subject, match) VALUES ('console', 'lead:a*', 'glob') | t
                    (role_name, program) VALUES ('test_admin', true)                          | (idp, subject) VALUES ('sso', 'lead:bob')                  | f
                    (idp, subject, match, program) VALUES ('console', 'lead:a*', 'glob', true) | (role_name) VALUES ('test_admin')                          | t
                    (idp, subject, match, program) VALUES ('console', 'lead:b*', 'glob', true) | (role_name) VALUES ('test_admin')                          | f
                    (idp, subject, match, program) VALUES ('console', 'lead:a*', 'glob', true) | (idp, subject, match) VALUES ('sso', 'other:*', 'glob')    | t
                    (idp, subject, match, program) VALUES ('console', 'lead:b*', 'glob', true) | (idp, subject, match) VALUES ('sso', 'other:*', 'glob')    | f
                    """)
    void a_rule_loses_its_approval_with_the_row_that_marks_a_name_as_a_program(
            String program, String other, String awaits) {
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_admin', 'sso', 'other:ann')");
        approvers(program + ";" + other);
        database.admin("UPDATE broker.tenant SET require_second_admin = true");
        database.rewrite("access_rule", "approved_by = 'other', approved_at = now()");
        database.run(
                Who.TENANT_ADMIN, "DELETE FROM broker.access_approver WHERE rule = 4 AND program");
        database.assertRows(
                "SELECT approved_at IS NULL FROM broker.access_rule WHERE id = 4", awaits);
    }

    /** One admin alone could stop the requests of others, by saying who they are. */
    @Test
    void a_row_that_awaits_approval_makes_nobody_the_requester() {
        database.admin("UPDATE broker.tenant SET require_second_admin = true");
        approvers("(role_name, idp, subject) VALUES ('test_admin', 'sso', 'dev:eve')");
        database.rewrite("access_rule", "approved_by = 'other', approved_at = now()");
        database.rewrite("key", "approved_by = 'other', approved_at = now()");
        approvers("(role_name) VALUES ('test_admin')");
        database.rewrite(
                "access_approver", "approved_at = CASE WHEN subject IS NULL THEN now() END");
        assertEquals("null", asked.one(asked.request("dev:eve", "vault", 600, "refusal")));
    }

    /** Rows whose claims cost too much to evaluate let nobody decide, but still mark programs. */
    @ParameterizedTest
    @CsvSource({"190, pending, t", "20, granted, f"})
    void a_rule_whose_claims_cost_too_much_takes_nobody_for_a_person(
            int groups, String status, String program) {
        String many =
                "(SELECT jsonb_build_object('groups', jsonb_agg('g' || n)) FROM generate_series(1, %d) AS n)"
                        .formatted(groups);
        approvers(
                "(idp, subject, match) VALUES ('sso', 'lead:*', 'glob');"
                        + "(idp, subject, match, claims) VALUES ('sso', 'lead:**', 'glob', %s);"
                                .formatted(many)
                        + "(idp, subject, match, claims, program) VALUES ('console', 'lead:*', 'glob', '{\"kind\": \"bot\"}', true)");
        String request = asked.asks("dev:eve", "vault", 3600);
        assertEquals(
                status,
                asked.one(
                        asked.decision("sso", "lead:ann", request, "approve")
                                .replace("'{}'", many)
                                .replace("'approve', NULL", "'approve', 'INC-7'")));
        database.assertRows("SELECT program FROM broker.access_decision", program);
    }

    /** Or one tenant would hold the connections of all others for seconds. */
    @Test
    void a_person_is_looked_up_once_however_many_names_the_rule_has() throws SQLException {
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject)"
                        + " SELECT 4, 'test_tenant_admin', 'sso', 'name:' || n FROM generate_series(1, 100) AS n");
        assertFewCallsOf("names_of_person", 20);
    }

    /** A hundred of the one with a thousand of the other are a hundred thousand pairs. */
    @Test
    void a_block_that_stops_no_approver_is_not_looked_at_for_each_of_them() throws SQLException {
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject, match)"
                        + " SELECT 4, 'sso', 'lead:' || n || '*x', 'glob' FROM generate_series(1, 50) AS n;"
                        + "INSERT INTO broker.blocked_subject (tenant, idp, subject, match, reason)"
                        + " SELECT 'acme', 'sso', 'lead:*' || n || '*y', 'glob', 'many' FROM generate_series(1, 50) AS n");
        assertFewCallsOf("covers", 200);
    }

    private void assertFewCallsOf(String function, int limit) throws SQLException {
        database.runAsSuperuser(
                "ALTER DATABASE %s SET track_functions = 'all'".formatted(database.name()));
        try (Connection app = database.connect(Who.APP);
                Statement statement = app.createStatement()) {
            app.setAutoCommit(false);
            statement.execute(asked.request("dev:eve", "vault", 600, "id"));
            try (ResultSet calls =
                    statement.executeQuery(
                            "SELECT sum(calls) FROM pg_stat_xact_user_functions WHERE funcname = '%s'"
                                    .formatted(function))) {
                assertTrue(calls.next());
                int found = calls.getInt(1);
                assertTrue(found > 0 && found < limit, () -> found + " calls of " + function);
            }
        }
    }

    /** Two names that were one person under a row in force stay one person. */
    @Test
    void names_follow_the_history() {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (4, 'test_tenant_admin', 'sso', 'dev:tina');
                UPDATE broker.access_approver SET step = 2 WHERE subject = 'dev:tina';
                DELETE FROM broker.access_approver WHERE subject = 'dev:tina';
                UPDATE broker.identity_provider SET issuer = 'https://new.example.com' WHERE name = 'console';
                UPDATE broker.tenant SET require_second_admin = true;
                INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (4, 'test_tenant_admin', 'sso', 'never:approved');
                DELETE FROM broker.access_approver WHERE subject = 'never:approved';
                """);
        database.assertRows(
                "SELECT role_name || ' ' || subject FROM runtime.joined_subject ORDER BY 1",
                "test_admin lead:ann",
                "test_tenant_admin dev:tina");
        database.assertRows(
                "SELECT idp || ' ' || issuer FROM runtime.named_issuer ORDER BY 1",
                "console https://new.example.com",
                "console https://sso.example.com",
                "sso https://sso.example.com");
        database.assertRows(
                "SELECT concat_ws(' ', login_name, of_issuer, subject_name) FROM internal.names_of_person('acme', NULL, 'https://new.example.com', 'dev:tina') ORDER BY 1",
                "https://new.example.com dev:tina",
                "https://sso.example.com dev:tina",
                "test_tenant_admin");
    }
}
