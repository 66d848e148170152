package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Bounds, texts, notices and break glass of requests for access, and what a crash leaves. */
class AccessBoundsTest {
    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);
    private final AskedAccess asked = new AskedAccess(database);
    @AutoClose private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    private String status(String request) {
        return database.value(
                "SELECT status FROM broker.access_request WHERE id = '%s'".formatted(request));
    }

    private String refused(Who who, String sql) {
        IllegalStateException refusal =
                assertThrows(IllegalStateException.class, () -> database.run(who, sql));
        return String.valueOf(Objects.requireNonNull(refusal.getCause()).getMessage());
    }

    @Test
    void open_requests_are_bounded_for_a_subject_and_a_rule() {
        for (int i = 0; i < 5; i++) {
            asked.asks("dev:eve", "deploy", 600 + i);
        }
        assertEquals(
                "too_many_requests", asked.one(asked.request("dev:eve", "deploy", 700, "refusal")));
        assertTrue(
                Integer.parseInt(asked.one(asked.request("dev:eve", "deploy", 700, "retry_after")))
                        > 0);
        for (int i = 0; i < 95; i++) {
            asked.asks("dev:d" + i, "deploy", 600);
        }
        assertEquals(
                "too_many_requests", asked.one(asked.request("dev:x", "deploy", 600, "refusal")));
        assertEquals("pending", asked.one(asked.request("dev:x", "deploy", 7200, "status")));
    }

    @Test
    void requests_count_as_changes_of_their_tenant() {
        database.admin("UPDATE broker.tenant SET max_changes = 1");
        asked.asks("dev:eve", "deploy", 600);
        assertEquals(
                "too_many_changes", asked.one(asked.request("dev:eve", "deploy", 700, "refusal")));
        database.admin("UPDATE broker.tenant SET max_changes = 0");
        database.rewrite("access_request", "expires_at = now()");
        assertEquals(
                "1",
                asked.one("SELECT internal.lapse_access_requests(100)"),
                "time is no change of the tenant's");
    }

    @Test
    void texts_are_freed_of_what_misleads_readers() {
        database.column(
                Who.APP,
                """
                SELECT status FROM internal.request_access('acme', 'sso', 'dev:eve', '{"groups": "dev"}', NULL, NULL, '{deploy}',
                       E'all\\u202E fine\\u200B \\x1b[2K\\n\\tincident   7 ', 600, false)
                """);
        database.assertRows("SELECT reason FROM broker.access_request", "all fine [2K incident 7");
    }

    @Test
    void break_glass_is_granted_at_once_and_signed_off_by_another_person() {
        database.admin(
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (3, 'test_tenant_admin', 'sso', 'dev:eve')");
        String request = asked.asks("dev:eve", "root", 600);
        assertEquals("granted", status(request));
        assertEquals("granted", asked.explained("dev:eve", "root"));
        database.assertRows("SELECT request FROM audit.break_glass", request);
        String review =
                "INSERT INTO broker.grant_review (grant_id, verdict) SELECT max(id), 'remove' FROM broker.subject_grant";
        assertTrue(refused(Who.TENANT_ADMIN, review).contains("another person must review it"));
        assertTrue(
                refused(Who.ADMIN, "DELETE FROM broker.subject_grant")
                        .contains("another person has signed it off"));
        assertEquals("granted", asked.one(asked.request("dev:jim", "root", 600, "status")));
        database.rewrite("access_request", "requested_at = now() - interval '25 hours'");
        assertEquals(
                "break_glass_open", asked.one(asked.request("dev:jim", "root", 700, "refusal")));
        // neither the requester's login nor the one that wrote the rule
        database.run(
                Who.OWNER,
                "SET ROLE mintmark_owner; INSERT INTO broker.grant_review (grant_id, verdict) SELECT id, 'remove' FROM broker.subject_grant; RESET ROLE");
        database.assertRows("SELECT count(*) FROM audit.break_glass", "0");
        assertEquals("granted", asked.one(asked.request("dev:jim", "root", 700, "status")));
    }

    @Test
    void notices_are_written_with_what_they_report() {
        database.admin(
                """
                UPDATE broker.tenant SET notice_url = 'https://hooks.example.com/x', notice_secret = '{"file": "hooks"}';
                """);
        String request = asked.asks("dev:eve", "deploy", 600);
        asked.decides("sso", "lead:bob", request, "approve");
        String taken = "SELECT type FROM internal.take_notices('here', 10, 60)";
        assertEquals(
                "[io.mintmark.access.requested, io.mintmark.access.decided, io.mintmark.access.granted]",
                asked.one(taken));
        assertEquals("[]", asked.one(taken));
        asked.gives("dev:eve", request);
        assertEquals("[]", asked.one(taken), "the same replica still sends the earlier ones");
        for (String id :
                database.column(
                        Who.OWNER,
                        "SELECT id FROM runtime.access_notice WHERE claimed_by = 'here'")) {
            assertEquals(
                    "true",
                    asked.one("SELECT internal.confirm_notice('%s', 'here')::text".formatted(id)));
        }
        assertEquals("io.mintmark.access.ended", asked.one(taken));
    }

    @Test
    void open_requests_are_bounded_for_a_tenant() {
        database.runAsSuperuser(
                """
                INSERT INTO broker.access_request
                       (tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals, expires_at)
                SELECT 'acme', 1000 + n / 100, 'deploy', 'sso', 'https://sso.example.com', 'dev:n' || n, 'one of many', 600, false, 1,
                       now() + interval '90 seconds'
                  FROM generate_series(1, 1000) AS n
                """);
        assertEquals("1000", asked.one(asked.request("dev:eve", "deploy", 600, "bound")));
        int retry =
                Integer.parseInt(asked.one(asked.request("dev:eve", "deploy", 600, "retry_after")));
        assertTrue(retry > 0 && retry <= 90, retry + " s");
        database.rewrite("access_request", "expires_at = now()");
        assertEquals("200", asked.one("SELECT internal.lapse_access_requests(2000)"));
        assertEquals("800", asked.one("SELECT internal.lapse_access_requests(10000)"));
        assertEquals("pending", asked.one(asked.request("dev:eve", "deploy", 600, "status")));
    }

    @Test
    void a_notice_that_nobody_takes_is_dropped_after_three_days() {
        database.admin(
                """
                UPDATE broker.tenant SET notice_url = 'https://hooks.example.com/x', notice_secret = '{"file": "hooks"}';
                """);
        asked.asks("dev:eve", "deploy", 600);
        String age =
                "UPDATE runtime.access_notice SET due = now(), wanted_at = now() - interval '%s'";
        String taken = "SELECT id FROM internal.take_notices('here', 10, 60)";
        String postponed =
                "SELECT internal.postpone_notice('%s', 'here', 60, 'answered 500')::text";
        database.runAsSuperuser(age.formatted("71 hours"));
        assertEquals("true", asked.one(postponed.formatted(asked.one(taken))));
        assertEquals("1", superusersCount("runtime.access_notice WHERE tries = 1"));
        database.runAsSuperuser(age.formatted("73 hours"));
        assertEquals("false", asked.one(postponed.formatted(asked.one(taken))));
        assertEquals("0", superusersCount("runtime.access_notice"));
    }

    private String superusersCount(String rows) {
        return database.column(Who.OWNER, "SELECT count(*) FROM " + rows).getFirst();
    }

    /** The decision waits where it would write the grant; its server process is ended there. */
    @Test
    void a_crash_between_decision_and_grant_leaves_neither() throws Exception {
        String request = asked.asks("dev:eve", "deploy", 600);
        try (Connection lock = database.connect(Who.OWNER);
                Statement statement = lock.createStatement()) {
            lock.setAutoCommit(false);
            statement.execute("LOCK TABLE broker.subject_grant IN EXCLUSIVE MODE");
            Future<String> deciding =
                    threads.submit(() -> asked.decides("sso", "lead:bob", request, "approve"));
            String waiting =
                    """
                    SELECT pid FROM pg_catalog.pg_locks
                     WHERE NOT granted AND relation = 'broker.subject_grant'::regclass
                    """;
            Eventually.holds(() -> !database.column(Who.AUDITOR, waiting).isEmpty());
            database.runAsSuperuser(
                    "SELECT pg_terminate_backend(pid) FROM pg_catalog.pg_locks WHERE NOT granted"
                            + " AND relation = 'broker.subject_grant'::regclass");
            assertThrows(Exception.class, deciding::get);
            lock.rollback();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        assertEquals("pending", status(request));
        database.assertRows("SELECT count(*) FROM broker.access_decision", "0");
        database.assertRows("SELECT count(*) FROM broker.subject_grant", "0");
        database.assertRows(
                "SELECT count(*) FROM audit.config_change WHERE table_name IN ('access_decision', 'subject_grant')",
                "0");
        assertEquals("granted", asked.decides("sso", "lead:bob", request, "approve"));
    }

    @Test
    void who_could_mint_names_the_request_and_who_approved_it() {
        String request = asked.asks("dev:eve", "deploy", 600);
        asked.decides("sso", "lead:bob", request, "approve");
        database.assertRows(
                """
                SELECT access_request || ' ' || approved_by
                  FROM audit.who_could_mint('acme', 'deploy', clock_timestamp())
                """,
                request + " lead:bob of sso");
    }

    @Test
    void lint_warns_of_what_can_never_be_approved() {
        database.assertRows("SELECT rule FROM broker.lint WHERE table_name = 'access_rule'");
        database.admin(
                """
                UPDATE broker.identity_provider SET accepts = '{actor}' WHERE name = 'console';
                DELETE FROM broker.access_approver WHERE rule = 2 AND (match = 'glob' OR role_name = 'test_admin');
                """);
        database.assertRows(
                "SELECT name || ' ' || rule FROM broker.lint WHERE table_name = 'access_rule' ORDER BY 1",
                "1 approver_not_accepted",
                "2 too_few_approvers");
        database.admin(
                """
                UPDATE broker.tenant SET require_second_admin = true;
                INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'sso', 'dev:kim', 'deploy');
                """);
        database.assertRows(
                "SELECT table_name FROM broker.lint WHERE rule = 'awaits_approval'",
                "subject_grant");
        assertEquals("approval", asked.explained("dev:kim", "deploy"));
    }
}
