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
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Objects;

/**
 * No login alone gets access in a tenant that requires a second admin, whatever rows of rules and
 * approvers it writes; and votes count by who may approve when a request is settled.
 */
class TwoPeopleTest {
    private static final String OWN_RULE =
            """
            INSERT INTO broker.access_rule (tenant, key, idp, subject, approvals, max_access, break_glass)
            VALUES ('acme', 'root', 'sso', 'tina', 0, 2592000, true)
            """;

    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);
    private final AskedAccess asked = new AskedAccess(database);

    private void requireSecondAdmin() {
        database.run(Who.TENANT_ADMIN, "UPDATE broker.tenant SET require_second_admin = true");
    }

    /** What a request for the key root comes to: the refusal, or the status. */
    private String requests(String subject, boolean breakGlass) {
        return asked.one(
                """
                SELECT coalesce(refusal, status) FROM internal.request_access('acme', 'sso', '%s', '{}', NULL, NULL,
                       '{root}', 'to mend incident 7', 1800, %s)
                """
                        .formatted(subject, breakGlass));
    }

    private void approvePending(Who who) {
        for (String statement :
                database.column("SELECT statement FROM broker.pending_approval ORDER BY name")) {
            database.run(who, statement);
        }
    }

    private String refused(Who who, String sql) {
        IllegalStateException refusal =
                assertThrows(IllegalStateException.class, () -> database.run(who, sql));
        return String.valueOf(Objects.requireNonNull(refusal.getCause()).getMessage());
    }

    @Test
    void a_rule_of_ones_own_gives_nothing_until_another_login_approves_it() {
        requireSecondAdmin();
        database.run(Who.TENANT_ADMIN, OWN_RULE);
        String before = requests("tina", true);
        assertTrue(!before.equals("granted") && !before.equals("pending"), before);
        database.assertRows("SELECT table_name FROM broker.pending_approval", "access_rule");
        String own = database.value("SELECT statement FROM broker.pending_approval");
        assertTrue(refused(Who.TENANT_ADMIN, own).contains("cannot approve it"));
        assertEquals(before, requests("tina", true));
        database.admin(own);
        assertEquals("granted", requests("tina", true));
    }

    /**
     * Where two people are required, a login that no row joins with a subject counts as a second.
     */
    @Test
    void lint_names_a_login_that_decides_and_has_no_subject() {
        String lint =
                "SELECT DISTINCT left(advice, 33) FROM broker.lint WHERE rule = 'login_without_subject'";
        database.assertRows(lint);
        requireSecondAdmin();
        database.assertRows(lint, "Login \"test_tenant_admin\" decides");
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_tenant_admin', 'sso', 'dev:tina')");
        approvePending(Who.TENANT_ADMIN);
        database.assertRows(lint);
    }

    @Test
    void an_approver_of_ones_own_decides_nothing_until_another_login_approves_the_row() {
        database.admin("DELETE FROM broker.access_approver WHERE role_name = 'test_tenant_admin'");
        requireSecondAdmin();
        String request = asked.asks("dev:eve", "deploy", 600);
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.access_approver (rule, role_name) SELECT rule, 'test_tenant_admin' FROM broker.access_request");
        String decide =
                "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                        .formatted(request);
        assertTrue(refused(Who.TENANT_ADMIN, decide).contains("not an approver"));
        approvePending(Who.ADMIN);
        database.run(Who.TENANT_ADMIN, decide);
        database.assertRows("SELECT status FROM broker.access_request", "granted");
    }

    @Test
    void a_rule_that_is_widened_is_out_of_force_until_it_is_approved_as_it_is() {
        database.admin(OWN_RULE.replace("'tina'", "'other'"));
        requireSecondAdmin();
        assertEquals("granted", requests("other", true));
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.access_rule SET subject = 'tina' WHERE subject = 'other'");
        assertTrue(!requests("tina", true).equals("granted"));
        String statement = database.value("SELECT statement FROM broker.pending_approval");
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.access_rule SET subject = 'team:**', match = 'glob' WHERE subject = 'tina'");
        String stale = refused(Who.ADMIN, statement);
        assertTrue(stale.contains(": match, subject."), stale);
        approvePending(Who.ADMIN);
        assertEquals("granted", requests("team:a", true));
    }

    @Test
    void a_grant_is_approved_as_its_reader_saw_it() {
        requireSecondAdmin();
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'sso', 'ci', 'deploy')");
        String statement = database.value("SELECT statement FROM broker.pending_approval");
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.subject_grant SET subject = 'team:**', match = 'glob'");
        String stale = refused(Who.ADMIN, statement);
        assertTrue(stale.contains(": match, subject."), stale);
        assertEquals("approval", asked.explained("team:a", "deploy"));
    }

    @Test
    void another_login_of_the_same_person_approves_nothing() {
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_tenant_admin', 'sso', 'lead:ann')");
        requireSecondAdmin();
        database.run(Who.TENANT_ADMIN, OWN_RULE);
        String statement = database.value("SELECT statement FROM broker.pending_approval");
        assertTrue(refused(Who.ADMIN, statement).contains("The person with login"));
        assertTrue(!requests("tina", true).equals("granted"));
    }

    @Test
    void what_awaits_approval_is_listed_with_what_it_allows() {
        requireSecondAdmin();
        database.run(Who.TENANT_ADMIN, OWN_RULE);
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'sso', 'ci', 'deploy', '{\"ref\": \"main\"}')");
        database.assertRows(
                "SELECT concat_ws('|', allows -> 'max_access', allows -> 'break_glass', allows -> 'claims', allows -> 'reason' IS NOT NULL) FROM broker.pending_approval ORDER BY table_name",
                "2592000|true|{}|f",
                "{\"ref\": \"main\"}|f");
    }

    /** As JSON these numbers are equal, but the history and its readers keep them apart. */
    @Test
    void a_number_that_is_written_otherwise_is_approved_anew() {
        String one = "'{\"n\": [100]}'";
        String other = "'{\"n\": [100.0]}'";
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'sso', 'ci', 'deploy', %s)"
                        .formatted(one));
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.blocked_subject (tenant, subject, claims, reason) VALUES ('acme', 'dev:eve', %s, 'INC-1')"
                        .formatted(one));
        requireSecondAdmin();
        database.run(Who.TENANT_ADMIN, "UPDATE broker.subject_grant SET claims = " + other);
        database.run(Who.TENANT_ADMIN, "UPDATE broker.blocked_subject SET claims = " + other);
        database.assertRows(
                "SELECT concat_ws('|', table_name, allows -> 'claims') FROM broker.pending_approval ORDER BY 1",
                "blocked_subject|{\"n\": [100.0]}",
                "subject_grant|{\"n\": [100.0]}");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.subject_grant SET claims = '{\"n\": [1e2]}'");
        approvePending(Who.ADMIN);
        database.assertRows("SELECT claims FROM broker.subject_grant", "{\"n\": [100]}");
        database.assertRows("SELECT claims FROM broker.blocked_subject", "{\"n\": [100.0]}");
    }

    @Test
    void narrowing_needs_nobody() {
        database.admin(OWN_RULE);
        requireSecondAdmin();
        database.run(Who.TENANT_ADMIN, "UPDATE broker.access_rule SET enabled = false");
        database.run(Who.TENANT_ADMIN, "DELETE FROM broker.access_approver");
        database.assertRows("SELECT count(*) FROM broker.pending_approval", "0");
    }

    @Test
    void what_was_asked_for_is_what_is_approved() {
        String described = asked.asks("dev:ida", "deploy", 600);
        database.admin("UPDATE broker.key SET description = 'of the shop' WHERE name = 'deploy'");
        assertEquals("granted", asked.decides("sso", "lead:bob", described, "approve"));
        for (String change :
                new String[] {
                    "broker.key SET settings = '{\"audience\": \"https://prod.example.com\"}' WHERE name = 'deploy'",
                    "broker.access_rule SET max_access = 7200 WHERE id = 1",
                    "broker.access_provider SET enabled = false"
                }) {
            String request = asked.asks("dev:eve", "deploy", 600);
            database.admin("UPDATE " + change);
            assertEquals("void", asked.decides("sso", "lead:bob", request, "approve"), change);
            database.assertRows(
                    "SELECT status FROM broker.access_request WHERE id = '%s'".formatted(request),
                    "void");
        }
        assertEquals("dev:eve lacks access", lacks("dev:eve"));
    }

    @Test
    void a_login_and_a_subject_that_were_ever_joined_stay_one_person() {
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) SELECT id, 'test_tenant_admin', 'sso', 'dev:eve' FROM broker.access_rule");
        String request = asked.asks("dev:eve", "deploy", 600);
        database.run(
                Who.TENANT_ADMIN,
                "DELETE FROM broker.access_approver WHERE role_name = 'test_tenant_admin'");
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name) SELECT id, 'test_tenant_admin' FROM broker.access_rule");
        assertTrue(
                refused(
                                Who.TENANT_ADMIN,
                                "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                                        .formatted(request))
                        .contains("You are the requester or the actor of this request"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM broker.access_approver WHERE idp = 'console'; DELETE FROM broker.identity_provider WHERE name = 'console'",
                "UPDATE broker.identity_provider SET issuer = 'https://other.example.com' WHERE name = 'console'",
                "UPDATE broker.identity_provider SET name = 'other' WHERE name = 'console'"
            })
    void who_was_joined_stays_one_person_whatever_becomes_of_the_identity_provider(String change) {
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_tenant_admin', 'console', 'dev:eve')");
        try {
            database.admin(change);
        } catch (IllegalStateException e) {
            assertTrue(
                    String.valueOf(e.getCause()).contains("approver"),
                    String.valueOf(e.getCause()));
            return;
        }
        assertTrue(
                refused(
                                Who.TENANT_ADMIN,
                                "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                                        .formatted(asked.asks("dev:eve", "deploy", 600)))
                        .contains("You are the requester or the actor of this request"));
    }

    /** Or else one admin could make all others one person, for good. */
    @Test
    void a_row_that_was_never_in_force_joins_nobody() {
        requireSecondAdmin();
        String join =
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, '%s', 'sso', 'lead:zoe');";
        database.run(
                Who.TENANT_ADMIN,
                join.formatted("test_admin") + join.formatted("test_tenant_admin"));
        database.run(Who.TENANT_ADMIN, OWN_RULE);
        String rule =
                "SELECT statement FROM broker.pending_approval WHERE table_name = 'access_rule'";
        database.admin(database.value(rule));
        database.run(
                Who.TENANT_ADMIN, "DELETE FROM broker.access_approver WHERE subject = 'lead:zoe'");
        database.run(Who.TENANT_ADMIN, OWN_RULE.replace("'tina'", "'tom'"));
        database.admin(database.value(rule));
        assertEquals("granted", requests("tom", true));
    }

    @Test
    void a_row_that_came_into_force_with_the_end_of_the_requirement_joins_for_good() {
        requireSecondAdmin();
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_tenant_admin', 'sso', 'lead:ann')");
        database.admin("UPDATE broker.tenant SET require_second_admin = false");
        database.admin(
                "DELETE FROM broker.access_approver WHERE role_name = 'test_tenant_admin' AND subject = 'lead:ann'");
        requireSecondAdmin();
        database.run(Who.TENANT_ADMIN, OWN_RULE);
        String refusal =
                refused(Who.ADMIN, database.value("SELECT statement FROM broker.pending_approval"));
        assertTrue(
                refusal.contains(
                        "The person with login \"test_admin\" wrote or changed access rule 4 as \"test_tenant_admin\""),
                refusal);
    }

    /** The issuer has a new URL, or a second identity provider for a while. */
    @Test
    void a_new_url_of_an_issuer_makes_nobody_another_person() {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_tenant_admin', 'sso', 'dev:eve');
                UPDATE broker.identity_provider SET issuer = 'https://new.example.com' WHERE name = 'sso';
                UPDATE broker.identity_provider SET issuer = 'https://newer.example.com' WHERE name = 'sso'
                """);
        String request = asked.asks("dev:eve", "deploy", 600);
        assertTrue(
                refused(
                                Who.TENANT_ADMIN,
                                "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                                        .formatted(request))
                        .contains("You are the requester or the actor of this request"));
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject) VALUES (1, 'console', 'dev:eve')");
        assertEquals("own_request", asked.decides("console", "dev:eve", request, "approve"));
        assertEquals("granted", asked.decides("sso", "lead:bob", request, "approve"));
    }

    @Test
    void who_is_blocked_decides_nothing_by_a_login_either() {
        database.admin(
                """
                INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_tenant_admin', 'sso', 'lead:zoe');
                INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'lead:zoe', 'INC-1')
                """);
        assertTrue(
                refused(
                                Who.TENANT_ADMIN,
                                "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                                        .formatted(asked.asks("dev:eve", "deploy", 600)))
                        .contains("You are blocked"));
    }

    @Test
    void a_row_that_joins_is_not_split_before_anybody_approves_it() {
        requireSecondAdmin();
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_tenant_admin', 'sso', 'dev:eve')");
        assertTrue(
                refused(
                                Who.TENANT_ADMIN,
                                "UPDATE broker.access_approver SET idp = NULL, subject = NULL WHERE subject = 'dev:eve'")
                        .contains("are one person"));
    }

    /** Turning the requirement off and on again approves no row that is disabled. */
    @Test
    void who_changed_a_disabled_row_does_not_approve_it_after_the_requirement_was_off() {
        requireSecondAdmin();
        database.admin("UPDATE broker.key SET enabled = false WHERE name = 'deploy'");
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.key SET settings = '{\"audience\": \"https://prod.example.com\"}' WHERE name = 'deploy'");
        database.admin("UPDATE broker.tenant SET require_second_admin = false");
        requireSecondAdmin();
        database.admin("UPDATE broker.key SET enabled = true WHERE name = 'deploy'");
        assertTrue(
                refused(
                                Who.TENANT_ADMIN,
                                database.value("SELECT statement FROM broker.pending_approval"))
                        .contains("cannot approve it"));
    }

    @Test
    void a_change_of_a_block_is_approved_with_the_whole_block_in_sight() {
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.blocked_subject (tenant, subject, match, claims, reason) VALUES ('acme', '**', 'glob', '{\"email\": \"eve@acme.example\"}', 'INC-1')");
        requireSecondAdmin();
        database.run(Who.TENANT_ADMIN, "UPDATE broker.blocked_subject SET enabled = false");
        database.assertRows(
                "SELECT concat_ws('|', allows -> 'enabled', allows -> 'now' -> 'claims', allows -> 'now' -> 'match') FROM broker.pending_approval",
                "false|{\"email\": \"eve@acme.example\"}|\"glob\"");
    }

    @Test
    void who_wrote_or_approved_the_rule_does_not_sign_its_break_glass_off() {
        requireSecondAdmin();
        database.run(Who.TENANT_ADMIN, OWN_RULE);
        approvePending(Who.ADMIN);
        assertEquals("granted", requests("tina", true));
        String keep =
                "INSERT INTO broker.grant_review (grant_id, verdict, note) SELECT max(id), 'keep', 'INC-1' FROM broker.subject_grant";
        for (Who who : new Who[] {Who.TENANT_ADMIN, Who.ADMIN}) {
            assertTrue(refused(who, keep).contains("wrote, changed or approved"), who.login());
        }
        database.assertRows("SELECT count(*) FROM audit.break_glass", "1");
    }

    @Test
    void another_login_of_the_rules_maker_does_not_sign_its_break_glass_off() {
        database.run(Who.TENANT_ADMIN, OWN_RULE);
        assertEquals("granted", requests("tina", true));
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (3, 'test_tenant_admin', 'sso', 'lead:ann')");
        assertTrue(
                refused(
                                Who.ADMIN,
                                "INSERT INTO broker.grant_review (grant_id, verdict, note) SELECT max(id), 'keep', 'INC-1' FROM broker.subject_grant")
                        .contains("wrote, changed or approved"));
        database.assertRows("SELECT count(*) FROM audit.break_glass", "1");
    }

    @Test
    void the_owner_writes_no_request_and_no_decision_of_a_subject() {
        String request = asked.asks("dev:eve", "deploy", 7200);
        assertTrue(
                refused(
                                Who.OWNER,
                                """
                                SET ROLE mintmark_owner;
                                INSERT INTO broker.access_decision (tenant, request, verdict, idp, issuer, subject)
                                VALUES ('acme', '%s', 'approve', 'sso', 'https://sso.example.com', 'lead:bob')
                                """
                                        .formatted(request))
                        .contains("cannot decide in the name of a subject"));
        assertTrue(
                refused(
                                Who.OWNER,
                                """
                                SET ROLE mintmark_owner;
                                INSERT INTO broker.access_request (tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals, expires_at)
                                VALUES ('acme', 1, 'deploy', 'sso', 'https://sso.example.com', 'mallory', 'because I own it', 600, false, 1, now() + interval '1 day')
                                """)
                        .contains("cannot write a request for access"));
    }

    private String lacks(String subject) {
        return asked.explained(subject, "deploy").equals("granted")
                ? subject + " has access"
                : subject + " lacks access";
    }
}
