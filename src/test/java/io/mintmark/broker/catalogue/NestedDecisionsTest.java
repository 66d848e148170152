package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A statement that changes a row and calls a function for each of its rows: what the function does
 * would see the change, and the history would not have it yet.
 */
class NestedDecisionsTest {
    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);
    private final AskedAccess asked = new AskedAccess(database);

    private static final String OWN_STATEMENT = "cannot decide an access request";

    /** The error of a statement that calls {@code pg_temp.nested()}, which has this body. */
    private String refused(String body, String statement) {
        return refused(
                "CREATE FUNCTION pg_temp.nested() RETURNS void LANGUAGE plpgsql AS $f$ BEGIN %s; END $f$; %s"
                        .formatted(body, statement));
    }

    private String refused(String script) {
        return String.valueOf(
                assertThrows(
                                IllegalStateException.class,
                                () -> database.run(Who.TENANT_ADMIN, script))
                        .getCause());
    }

    private static String vote(String request, String verdict) {
        return "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', '%s')"
                .formatted(request, verdict);
    }

    private void assertStatus(String request, String status) {
        database.assertRows(
                "SELECT status FROM broker.access_request WHERE id = '%s'".formatted(request),
                status);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM broker.access_approver WHERE program RETURNING pg_temp.nested()",
                "UPDATE broker.access_approver SET program = false WHERE program RETURNING pg_temp.nested()",
                "UPDATE broker.key SET max_duration = 500 WHERE name = 'deploy' RETURNING pg_temp.nested()",
                "SELECT pg_temp.nested()"
            })
    void an_approval_within_another_statement_is_refused(String statement) {
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject, program) VALUES (1, 'sso', 'bot:lead', true);"
                        + "UPDATE broker.tenant SET require_second_admin = true");
        String request = asked.asks("dev:eve", "deploy", 600);
        String said = refused(vote(request, "approve"), statement);
        assertTrue(said.contains(OWN_STATEMENT), said);
        assertStatus(request, "pending");
    }

    @Test
    void an_approval_in_a_block_is_refused() {
        String request = asked.asks("dev:eve", "deploy", 600);
        String said = refused("DO $$ BEGIN %s; END $$".formatted(vote(request, "approve")));
        assertTrue(said.contains(OWN_STATEMENT), said);
        database.run(Who.TENANT_ADMIN, vote(request, "approve"));
        assertStatus(request, "granted");
    }

    @Test
    void who_takes_its_own_row_away_does_not_withdraw() {
        String request = asked.asks("dev:eve", "deploy", 600);
        assertEquals("granted", asked.decides("sso", "lead:bob", request, "approve"));
        String said =
                refused(
                        "DELETE FROM broker.access_approver WHERE role_name = 'test_tenant_admin'",
                        vote(request, "withdraw") + " RETURNING pg_temp.nested()");
        assertTrue(said.contains("changes a row that makes you its approver"), said);
        assertStatus(request, "granted");
    }

    private static final String SIGN_OFF =
            "INSERT INTO broker.grant_review (grant_id, verdict, note) SELECT id, 'keep', 'ok' FROM broker.subject_grant";

    private void breakGlass() {
        assertEquals(
                "granted",
                asked.one(
                        asked.request("dev:eve", "root", 600, "coalesce(refusal, status)")
                                .replace("600, false", "600, true")));
    }

    @Test
    void who_changes_the_rule_in_the_same_statement_does_not_sign_off() {
        breakGlass();
        String said =
                refused(
                        "NULL",
                        """
                        WITH rule AS (UPDATE broker.access_rule SET reason = 'x' WHERE break_glass RETURNING tenant)
                        INSERT INTO broker.grant_review (grant_id, verdict, note)
                        SELECT g.id, 'keep', 'ok' FROM rule JOIN broker.subject_grant AS g USING (tenant)
                        """);
        assertTrue(said.contains("so another person must sign it off"), said);
    }

    @Test
    void a_sign_off_within_another_statement_is_refused() {
        breakGlass();
        String said =
                refused(
                        SIGN_OFF,
                        "UPDATE broker.access_rule SET reason = 'x' WHERE break_glass RETURNING pg_temp.nested()");
        assertTrue(said.contains("cannot sign off a break glass"), said);
        database.run(Who.TENANT_ADMIN, SIGN_OFF);
        database.assertRows("SELECT signed_off_by FROM broker.access_request", "test_tenant_admin");
    }

    /** A change that nothing refers to is made last, but its decision is recorded before it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM broker.access_approver WHERE program",
                "INSERT INTO broker.access_approver (rule, idp, subject) VALUES (1, 'sso', 'lead:zoe')",
                "UPDATE broker.access_rule SET max_access = 7100 WHERE id = 1",
                "UPDATE broker.key SET max_duration = 500 WHERE name = 'deploy'",
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'dev:mal', 'INC-1')"
            })
    void an_approval_with_a_change_in_the_same_statement_is_refused(String change) {
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject, program) VALUES (1, 'sso', 'bot:lead', true)");
        String request = asked.asks("dev:eve", "deploy", 600);
        String said = refused("WITH change AS (%s) %s".formatted(change, vote(request, "approve")));
        assertTrue(said.contains("This transaction has decided an access request"), said);
        assertStatus(request, "pending");
        database.run(Who.TENANT_ADMIN, change);
    }

    @Test
    void a_transaction_may_decide_several_requests() {
        String one = asked.asks("dev:eve", "deploy", 600);
        String other = asked.asks("dev:mal", "deploy", 600);
        database.run(Who.TENANT_ADMIN, vote(one, "approve") + "; " + vote(other, "approve"));
        database.run(Who.TENANT_ADMIN, vote(one, "withdraw") + "; " + vote(other, "withdraw"));
        assertStatus(one, "withdrawn");
        assertStatus(other, "withdrawn");
    }

    @Test
    void who_disables_the_grant_in_the_same_statement_does_not_withdraw() {
        String request = asked.asks("dev:eve", "deploy", 600);
        database.run(Who.TENANT_ADMIN, vote(request, "approve"));
        String said =
                refused(
                        "WITH grants AS (UPDATE broker.subject_grant SET enabled = false) "
                                + vote(request, "withdraw"));
        assertTrue(
                said.contains("or its access, ended while the statement that decides on it ran"),
                said);
    }

    @Test
    void who_takes_away_the_row_that_names_them_in_the_same_statement_does_not_sign_off() {
        breakGlass();
        String said =
                refused(
                        "WITH row AS (DELETE FROM broker.access_approver WHERE id = 1) "
                                + SIGN_OFF);
        assertTrue(said.contains("or signed off a break glass"), said);
    }

    @Test
    void a_rule_that_ends_its_access_is_changed_alone() {
        database.admin("UPDATE broker.access_rule SET end_access = true WHERE id = 1");
        String request = asked.asks("dev:eve", "deploy", 600);
        database.run(Who.TENANT_ADMIN, vote(request, "approve"));
        String said =
                refused(
                        "WITH grants AS (UPDATE broker.subject_grant SET enabled = false) UPDATE broker.access_rule SET enabled = false WHERE id = 1");
        assertTrue(said.contains("The change of the rule alone would end that access"), said);
        database.run(
                Who.TENANT_ADMIN, "UPDATE broker.access_rule SET enabled = false WHERE id = 1");
        database.assertRows("SELECT enabled FROM broker.subject_grant", "f");
    }

    /** Else one admin could take a name away while the second admin is turned on again. */
    @Test
    void approvers_that_come_into_force_are_one_person_for_good() {
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_tenant_admin', 'sso', 'dev:tina')");
        database.admin("UPDATE broker.tenant SET require_second_admin = false");
        database.run(
                Who.TENANT_ADMIN,
                """
                WITH row AS (DELETE FROM broker.access_approver WHERE subject = 'dev:tina')
                UPDATE broker.tenant SET require_second_admin = true WHERE name = 'acme'
                """);
        database.assertRows(
                "SELECT subject_name FROM internal.names_of_person('acme', 'test_tenant_admin', NULL, NULL) WHERE subject_name IS NOT NULL",
                "dev:tina");
    }

    /** Else the history would have the two changes in the wrong order. */
    @Test
    void a_row_that_was_spelled_otherwise_meanwhile_is_a_second_change() {
        String said =
                refused(
                        "UPDATE broker.access_rule SET claims = '{\"pid\": 7.00}' WHERE id = 1",
                        """
                        BEGIN;
                        UPDATE broker.access_rule SET claims = '{"pid": 7}' WHERE id = 1;
                        UPDATE broker.access_rule SET claims = '{"pid": 7.0}' WHERE id = 1 RETURNING pg_temp.nested();
                        COMMIT
                        """);
        assertTrue(said.contains("changed the same row of broker.access_rule twice"), said);
    }

    /** A function that a decision calls is done, and on record, before the decision is. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    refuse   | UPDATE broker.access_rule SET max_access = 3000 WHERE id = 1                          | ended while the statement
                    refuse   | DELETE FROM broker.access_approver WHERE role_name = 'test_tenant_admin'              | changes a row that makes you its approver
                    approve  | DELETE FROM broker.access_approver WHERE role_name = 'test_tenant_admin'              | changes a row that makes you its approver
                    withdraw | UPDATE broker.subject_grant SET enabled = false                                       | ended while the statement
                    withdraw | INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (2, 'test_tenant_admin', 'sso', 'dev:eve') | changes a row that makes you its approver
                    approve  | INSERT INTO broker.access_approver (rule, role_name, idp, subject, program) VALUES (1, 'test_tenant_admin', 'sso', 'dev:tina', true) | changes a row that makes you its approver
                    refuse   | INSERT INTO broker.access_approver (rule, role_name, step) VALUES (1, 'test_tenant_admin', 2) | changes a row that makes you its approver
                    """)
    void what_a_decision_calls_is_seen_by_it(String verdict, String change, String refusal) {
        String request = asked.asks("dev:eve", "deploy", 600);
        if (verdict.equals("withdraw")) {
            asked.decides("sso", "lead:bob", request, "approve");
        }
        String said = refused(change, vote(request, verdict) + " RETURNING pg_temp.nested()");
        assertTrue(said.contains(refusal), said);
    }

    @Test
    void an_approval_sees_the_issuer_that_it_changes() {
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name) VALUES (1, 'test_admin') ON CONFLICT DO NOTHING");
        String request = asked.asks("dev:eve", "deploy", 600);
        String said =
                String.valueOf(
                        assertThrows(
                                        IllegalStateException.class,
                                        () ->
                                                database.admin(
                                                        """
                                                        CREATE FUNCTION pg_temp.nested() RETURNS void LANGUAGE plpgsql AS $f$ BEGIN
                                                            UPDATE broker.identity_provider SET issuer = 'https://other.example.com' WHERE name = 'sso';
                                                        END $f$;
                                                        %s RETURNING pg_temp.nested()
                                                        """
                                                                .formatted(
                                                                        vote(request, "approve"))))
                                .getCause());
        assertTrue(said.contains("got another issuer"), said);
    }

    /**
     * The other row is as the statement leaves it, or gone, but not on record: PostgreSQL runs the
     * last CTE first.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.access_approver SET subject = 'bot:*' WHERE rule = 1 AND match = 'glob'",
                "DELETE FROM broker.access_approver WHERE rule = 1 AND match = 'glob'"
            })
    void a_rule_loses_its_approval_with_a_program_whatever_the_statement_does_beside_it(
            String other) {
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject, program) VALUES (1, 'sso', 'lead:gate', true);"
                        + "UPDATE broker.tenant SET require_second_admin = true");
        database.run(
                Who.TENANT_ADMIN,
                "WITH u AS (%s), d AS (DELETE FROM broker.access_approver WHERE program) SELECT 1"
                        .formatted(other));
        database.assertRows("SELECT approved_at IS NULL FROM broker.access_rule WHERE id = 1", "t");
    }

    @Test
    void a_trigger_of_a_member_changes_nothing_after_a_decision() {
        String request = asked.asks("dev:eve", "deploy", 600);
        String said =
                refused(
                        """
                        CREATE TEMP TABLE own (n int);
                        CREATE FUNCTION pg_temp.nested() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
                            UPDATE broker.access_rule SET max_access = 3000 WHERE id = 1;
                            RETURN NULL;
                        END $f$;
                        CREATE TRIGGER nested AFTER INSERT ON own FOR EACH ROW EXECUTE FUNCTION pg_temp.nested();
                        BEGIN;
                        %s;
                        INSERT INTO own VALUES (1);
                        COMMIT
                        """
                                .formatted(vote(request, "approve")));
        assertTrue(said.contains("This transaction has decided an access request"), said);
    }

    @Test
    void access_does_not_end_beside_its_rule_in_a_function() {
        database.admin("UPDATE broker.access_rule SET end_access = true WHERE id = 1");
        String request = asked.asks("dev:eve", "deploy", 600);
        database.run(Who.TENANT_ADMIN, vote(request, "approve"));
        for (String end :
                new String[] {
                    "UPDATE broker.subject_grant SET enabled = false",
                    "DELETE FROM broker.subject_grant"
                }) {
            String said =
                    refused(
                            "UPDATE broker.access_rule SET max_access = 3000 WHERE id = 1;"
                                    + "UPDATE broker.access_rule SET reason = 'tidy' WHERE id = 1",
                            end + " RETURNING pg_temp.nested()");
            assertTrue(said.contains("The change of the rule alone would end that access"), said);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.subject_grant SET enabled = false",
                "DELETE FROM broker.subject_grant"
            })
    void a_grant_that_the_review_ends_is_not_kept(String end) {
        database.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'sso', 'ci', 'deploy')");
        String said = refused(end, SIGN_OFF + " RETURNING pg_temp.nested()");
        assertTrue(said.contains("also disables or deletes it"), said);
        database.run(Who.TENANT_ADMIN, SIGN_OFF);
    }
}
