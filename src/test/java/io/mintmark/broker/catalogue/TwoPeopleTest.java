package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

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
        assertTrue(stale.contains("changed since: match, subject"), stale);
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
        assertTrue(stale.contains("changed since: match, subject"), stale);
        assertEquals("approval", asked.explained("team:a", "deploy"));
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
    void a_block_stays_until_another_login_approves_that_it_is_lifted() {
        requireSecondAdmin();
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'dev:eve', 'INC-1')");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.blocked_subject SET enabled = false");
        database.assertRows(
                "SELECT concat_ws('|', enabled, proposed) FROM broker.blocked_subject",
                "t|{\"enabled\": false}");
        database.assertRows(
                "SELECT concat_ws('|', table_name, subject, reason) FROM broker.pending_approval",
                "blocked_subject|dev:eve|INC-1; proposed: {\"enabled\": false}");
        String lift = database.value("SELECT statement FROM broker.pending_approval");
        assertTrue(refused(Who.TENANT_ADMIN, lift).contains("cannot approve it"));
        database.admin(lift);
        database.assertRows(
                "SELECT concat_ws('|', enabled, proposed) FROM broker.blocked_subject", "f");
        assertTrue(refused(Who.ADMIN, lift).contains("No change of block 1 awaits approval."));
        database.run(Who.TENANT_ADMIN, "DELETE FROM broker.blocked_subject");
    }

    @Test
    void a_block_is_shortened_or_narrowed_by_two_and_extended_by_one() {
        requireSecondAdmin();
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('acme', 'dev:eve', 'INC-1', now() + interval '1 day')");
        database.run(
                Who.TENANT_ADMIN,
                "UPDATE broker.blocked_subject SET claims = '{\"azp\": \"x\"}', until = until - interval '1 hour'");
        database.assertRows(
                "SELECT concat_ws('|', claims, until > now() + interval '23.5 hours', proposed ?& '{claims,until}') FROM broker.blocked_subject",
                "{}|t|t");
        database.run(Who.TENANT_ADMIN, "UPDATE broker.blocked_subject SET until = NULL");
        database.assertRows(
                "SELECT until IS NULL AND proposed IS NULL FROM broker.blocked_subject", "t");
        database.assertRows("SELECT count(*) FROM broker.pending_approval", "0");
        assertTrue(
                refused(Who.TENANT_ADMIN, "DELETE FROM broker.blocked_subject")
                        .contains("requires a second admin to lift it"));
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
    void who_is_no_approver_any_more_no_longer_counts() {
        String request = asked.asks("dev:eve", "deploy", 7200);
        assertEquals("pending", asked.decides("sso", "lead:bob", request, "approve"));
        database.admin(
                "UPDATE broker.access_approver SET subject = 'lead:amy', match = 'exact' WHERE subject = 'lead:*' AND idp = 'sso' AND rule = 2");
        assertEquals("pending", asked.decides("sso", "lead:amy", request, "approve"));
        assertEquals("dev:eve lacks access", lacks("dev:eve"));
    }

    @Test
    void who_is_blocked_since_or_whose_row_asks_for_claims_since_no_longer_counts() {
        String request = asked.asks("dev:eve", "deploy", 7200);
        asked.decides("sso", "lead:bob", request, "approve");
        database.admin(
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'lead:bob', 'INC-1')");
        assertEquals("pending", asked.decides("sso", "lead:amy", request, "approve"));
        database.admin("UPDATE broker.blocked_subject SET enabled = false");
        database.admin(
                "UPDATE broker.access_approver SET claims = '{\"groups\": \"leads\"}' WHERE subject = 'lead:*'");
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject) SELECT rule, 'sso', 'lead:zoe' FROM broker.access_request");
        assertEquals("pending", asked.decides("sso", "lead:zoe", request, "approve"));
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
                        .contains("Nobody decides a request that they made"));
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
                        .contains("cannot write a decision of a subject"));
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
