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

import java.util.Objects;

/** An approver ends access that was granted. Whoever may not decide a request may not do it. */
class WithdrawalByApproverTest {
    private static final String WITHDRAWAL =
            "INSERT INTO broker.access_decision (request, verdict, note) VALUES ('%s', 'withdraw', 'INC-7 is over')";

    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);
    private final AskedAccess asked = new AskedAccess(database);

    private String granted() {
        String request = asked.asks("dev:eve", "deploy", 600);
        assertEquals("granted", asked.decides("sso", "lead:bob", request, "approve"));
        return request;
    }

    private String withdraws(String idp, String subject, String request) {
        return asked.decides(idp, subject, request, "withdraw");
    }

    private void assertLasts(String request) {
        assertEquals("granted", status(request));
        assertEquals("granted", asked.explained("dev:eve", "deploy"));
    }

    private String status(String request) {
        return database.value(
                "SELECT status FROM broker.access_request WHERE id = '%s'".formatted(request));
    }

    private String refused(Who who, String sql) {
        IllegalStateException refusal =
                assertThrows(IllegalStateException.class, () -> database.run(who, sql));
        return String.valueOf(Objects.requireNonNull(refusal.getCause()).getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"bob", "joe"})
    void whoever_may_decide_ends_the_access_whether_or_not_they_approved_it(String lead) {
        String request = granted();
        assertEquals("withdrawn", withdraws("sso", "lead:" + lead, request));
        assertEquals("the grant is enabled", asked.explained("dev:eve", "deploy"));
        database.assertRows(
                Who.AUDITOR,
                "SELECT status || ' ' || approved_by[1] || ' ' || withdrawn_by || ' ' || (decided_at < now()) FROM audit.access_request",
                "withdrawn lead:bob of sso lead:%s true".formatted(lead));
        assertEquals("withdrawn", withdraws("console", "lead:" + lead, request), "again");
        database.assertRows(
                "SELECT count(*) FROM broker.access_decision WHERE verdict = 'withdraw'", "1");
    }

    @Test
    void a_login_that_may_decide_does_it_in_sql_and_the_end_is_recorded_first() {
        String request = granted();
        database.run(Who.TENANT_ADMIN, WITHDRAWAL.formatted(request));
        database.assertRows(
                Who.AUDITOR,
                """
                SELECT table_name || ' ' || coalesce(after ->> 'verdict', after ->> 'status', after ->> 'enabled') || ' ' || changed_by
                  FROM audit.config_change WHERE changed_by = 'test_tenant_admin' ORDER BY revision
                """,
                "subject_grant false test_tenant_admin",
                "access_request withdrawn test_tenant_admin",
                "access_decision withdraw test_tenant_admin");
        database.assertRows("SELECT withdrawn_by FROM broker.access_request", "test_tenant_admin");
    }

    @ParameterizedTest
    @CsvSource({
        "sso, dev:eve, own_request",
        "console, dev:eve, own_request",
        "sso, dev:jim, unknown_request",
        "sso, LEAD:bob, unknown_request"
    })
    void whoever_may_not_decide_does_not(String idp, String subject, String refusal) {
        String request = granted();
        assertEquals(refusal, withdraws(idp, subject, request));
        assertLasts(request);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM broker.access_approver WHERE subject = 'lead:*'",
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'lead:bob', 'INC-8')"
            })
    void an_approver_who_is_none_any_more_or_blocked_does_not(String change) {
        String request = granted();
        database.admin(change);
        assertTrue(
                withdraws("sso", "lead:bob", request).matches("unknown_request|blocked"), request);
        assertLasts(request);
    }

    @Test
    void the_same_name_in_another_tenant_does_not() {
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('other');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('other-sso', 'other', 'https://sso.example.com', '{other}')
                """);
        String request = granted();
        assertEquals(
                "unknown_request",
                asked.one(
                        "SELECT refusal FROM internal.decide_access('other', 'other-sso', 'lead:bob', '{}', false, '%s', 'withdraw', NULL)"
                                .formatted(request)));
        assertLasts(request);
    }

    @Test
    void the_requester_does_not_by_the_login_that_is_the_same_person() {
        String request = granted();
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_tenant_admin', 'sso', 'dev:eve')");
        assertTrue(
                refused(Who.TENANT_ADMIN, WITHDRAWAL.formatted(request))
                        .contains("You are the requester or the actor of this request"));
        assertLasts(request);
    }

    @Test
    void an_agent_does_not_take_its_principals_place() {
        String request = granted();
        assertEquals(
                "decided_with_actor",
                asked.one(
                        "SELECT refusal FROM internal.decide_access('acme', 'sso', 'lead:bob', '{}', true, '%s', 'withdraw', NULL)"
                                .formatted(request)));
        assertLasts(request);
    }

    @Test
    void a_program_says_why() {
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject, program) VALUES (1, 'sso', 'bot:gate', true)");
        String request = granted();
        assertEquals("bad_note", withdraws("sso", "bot:gate", request));
        assertLasts(request);
        assertEquals(
                "withdrawn",
                asked.one(
                        "SELECT coalesce(refusal, status) FROM internal.decide_access('acme', 'sso', 'bot:gate', '{}', false, '%s', 'withdraw', 'INC-7 is over')"
                                .formatted(request)));
        database.assertRows(
                "SELECT program FROM broker.access_decision WHERE verdict = 'withdraw'", "t");
    }

    @Test
    void only_access_that_lasts_is_withdrawn() {
        String pending = asked.asks("dev:jim", "deploy", 600);
        assertEquals("not_granted", withdraws("sso", "lead:bob", pending));
        assertEquals("pending", status(pending));
        assertTrue(
                refused(Who.TENANT_ADMIN, WITHDRAWAL.formatted(pending))
                        .contains("The request is pending, so there is no access to withdraw."));
        String request = granted();
        database.admin("UPDATE broker.subject_grant SET enabled = false");
        assertEquals("not_granted", withdraws("sso", "lead:bob", request));
        assertEquals("granted", status(request));
    }

    @Test
    void access_that_was_withdrawn_does_not_come_back() {
        String request = granted();
        withdraws("sso", "lead:bob", request);
        assertEquals("already_decided", asked.decides("sso", "lead:bob", request, "approve"));
        assertEquals("not_pending", asked.decides("sso", "lead:joe", request, "approve"));
        assertEquals("withdrawn", asked.gives("dev:eve", request));
        assertEquals("the grant is enabled", asked.explained("dev:eve", "deploy"));
    }

    @Test
    void it_does_not_need_the_rule_or_key_as_they_were() {
        String request = granted();
        database.admin(
                "UPDATE broker.access_rule SET enabled = false; UPDATE broker.key SET max_duration = 300 WHERE name = 'deploy'");
        assertEquals("withdrawn", withdraws("sso", "lead:bob", request));
    }

    @Test
    void a_break_glass_is_withdrawn_by_an_approver_of_its_rule_and_still_needs_a_sign_off() {
        database.admin(
                "INSERT INTO broker.access_approver (rule, idp, subject) VALUES (3, 'sso', 'lead:bob')");
        String request = asked.asks("dev:eve", "root", 600);
        assertEquals("withdrawn", withdraws("sso", "lead:bob", request));
        database.assertRows(
                Who.AUDITOR,
                "SELECT request || ' ' || in_force FROM audit.break_glass",
                request + " false");
    }

    @Test
    void it_works_on_a_day_whose_changes_are_used_up() {
        String request = granted();
        database.admin("UPDATE broker.tenant SET max_changes = 5 WHERE name = 'acme'");
        database.runAsSuperuser("UPDATE work.changes_of_day SET changes = 5");
        assertEquals(
                "too_many_changes", asked.one(asked.request("dev:jim", "deploy", 600, "refusal")));
        assertEquals("withdrawn", withdraws("sso", "lead:bob", request));
    }

    @Test
    void the_notice_of_the_end_says_who_withdrew_it() {
        database.admin(
                """
                UPDATE broker.tenant SET notice_url = 'https://hooks.example.com', notice_secret = '{"file": "notices"}' WHERE name = 'acme'
                """);
        String request = granted();
        withdraws("sso", "lead:joe", request);
        assertEquals(
                "withdrawn lead:joe withdraw",
                asked.one(
                        """
                        SELECT data ->> 'status' || ' ' || (data -> 'approvals' -> 1 ->> 'decidedBy') || ' ' || (data -> 'approvals' -> 1 ->> 'verdict')
                          FROM internal.take_notices('r', 10, 60) WHERE type LIKE '%.ended'
                        """));
    }
}
