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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Two transactions at once: the second waits for the first, and decides on what that left. */
class AccessRacesTest {
    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);
    private final AskedAccess asked = new AskedAccess(database);
    @AutoClose private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    private String status(String request) {
        return database.value(
                "SELECT status FROM broker.access_request WHERE id = '%s'".formatted(request));
    }

    private static String first(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            if (!statement.execute(sql)) {
                return "";
            }
            try (ResultSet rows = statement.getResultSet()) {
                return rows.next() ? String.valueOf(rows.getString(1)) : "";
            }
        }
    }

    /** Runs one in an open transaction, starts the other, and commits when that waits. */
    private String after(Who who, String one, Who whoElse, String other) throws Exception {
        return between(who, one, "SELECT 1", whoElse, other);
    }

    /** The same, with a statement in the open transaction after the other has begun to wait. */
    private String between(Who who, String one, String then, Who whoElse, String other)
            throws Exception {
        try (Connection open = database.connect(who)) {
            open.setAutoCommit(false);
            first(open, one);
            Future<String> waiting =
                    threads.submit(() -> {
                        try (Connection second = database.connect(whoElse)) {
                            return first(second, other);
                        }
                    });
            Eventually.holds(() ->
                    waiting.isDone()
                            || !database.column(
                                            Who.AUDITOR,
                                            "SELECT pid FROM pg_locks WHERE NOT granted")
                                    .isEmpty());
            assertEquals(false, waiting.isDone(), "it did not wait");
            first(open, then);
            open.commit();
            return waiting.get();
        }
    }

    private String refusedAfter(Who who, String one, Who whoElse, String other) {
        return String.valueOf(
                assertThrows(ExecutionException.class, () -> after(who, one, whoElse, other))
                        .getMessage());
    }

    @Test
    void two_approvers_at_once_lead_to_one_grant() throws Exception {
        String request = asked.asks("dev:eve", "deploy", 7200);
        String second =
                after(
                        Who.APP,
                        asked.decision("sso", "lead:bob", request, "approve"),
                        Who.APP,
                        asked.decision("sso", "lead:joe", request, "approve"));
        assertEquals("granted", second);
        database.assertRows("SELECT count(*) FROM broker.subject_grant", "1");
    }

    @Test
    void one_approver_on_two_replicas_counts_once() throws Exception {
        String request = asked.asks("dev:eve", "deploy", 7200);
        String decision = asked.decision("sso", "lead:bob", request, "approve");
        assertEquals("pending", after(Who.APP, decision, Who.APP, decision));
        database.assertRows("SELECT count(*) FROM broker.access_decision", "1");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    UPDATE broker.access_rule SET approvals = 2 WHERE id = 1 | void
                    UPDATE broker.access_rule SET enabled = false WHERE id = 1 | void
                    INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'dev:eve', 'x') | requester_blocked
                    DELETE FROM broker.access_approver WHERE idp = 'sso' AND role_name IS NULL | unknown_request
                    """)
    void an_approval_sees_the_edit_that_it_waited_for(String edit, String expected)
            throws Exception {
        String request = asked.asks("dev:eve", "deploy", 600);
        String approval = asked.decision("sso", "lead:bob", request, "approve");
        assertEquals(expected, after(Who.TENANT_ADMIN, edit, Who.APP, approval));
        database.assertRows("SELECT count(*) FROM broker.subject_grant", "0");
    }

    @Test
    void a_rule_that_changes_after_an_approval_leaves_its_grant() throws Exception {
        String request = asked.asks("dev:eve", "deploy", 600);
        after(
                Who.APP,
                asked.decision("sso", "lead:bob", request, "approve"),
                Who.TENANT_ADMIN,
                "UPDATE broker.access_rule SET enabled = false");
        assertEquals("granted", status(request));
    }

    /**
     * The statement that writes the vote calls a function, which makes the request lapse or writes
     * a block.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                """
                ALTER TABLE broker.access_request DISABLE TRIGGER check_access_request;
                UPDATE broker.access_request SET expires_at = now();
                ALTER TABLE broker.access_request ENABLE ALWAYS TRIGGER check_access_request
                """,
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'dev:eve', 'INC-1')",
                "INSERT INTO broker.blocked_subject (tenant, subject, match, claims, reason) VALUES ('acme', 'dev:**', 'glob', '{\"groups\": \"x\"}', 'INC-1')"
            })
    void an_approval_whose_statement_waits_is_checked_again(String meanwhile) {
        String request = asked.asks("dev:eve", "deploy", 600);
        database.runAsSuperuser(
                """
                CREATE FUNCTION public.meanwhile() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $f$ BEGIN %s; END $f$
                """
                        .formatted(meanwhile));
        String said =
                String.valueOf(
                        assertThrows(
                                        IllegalStateException.class,
                                        () ->
                                                database.run(
                                                        Who.TENANT_ADMIN,
                                                        "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve') RETURNING public.meanwhile()"
                                                                .formatted(request)))
                                .getCause());
        assertTrue(
                said.contains("lapsed, or its requester was blocked or got another issuer, while"),
                said);
        assertEquals("pending", status(request));
    }

    @Test
    void an_approval_that_waits_for_the_key_is_checked_afterwards() throws Exception {
        String request = asked.asks("dev:eve", "deploy", 600);
        assertEquals(
                "requester_blocked",
                between(
                        Who.TENANT_ADMIN,
                        "SELECT name FROM broker.key WHERE name = 'deploy' FOR UPDATE",
                        "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'dev:eve', 'INC-1')",
                        Who.APP,
                        asked.decision("sso", "lead:bob", request, "approve")));
    }

    @Test
    void an_approver_whose_issuer_changes_meanwhile_is_refused() {
        String said =
                refusedAfter(
                        Who.ADMIN,
                        "UPDATE broker.identity_provider SET issuer = 'https://new.example.com' WHERE name = 'sso'",
                        Who.TENANT_ADMIN,
                        "INSERT INTO broker.access_approver (rule, idp, subject) VALUES (1, 'sso', 'lead:cat')");
        assertTrue(said.contains("changed while the statement waited"), said);
    }

    @Test
    void an_approval_beside_a_lapse_is_one_or_the_other() throws Exception {
        String request = asked.asks("dev:eve", "deploy", 600);
        String approval = asked.decision("sso", "lead:bob", request, "approve");
        database.rewrite("access_request", "expires_at = now()");
        assertEquals(
                "lapsed",
                after(Who.APP, "SELECT internal.lapse_access_requests(9)", Who.APP, approval));

        String other = asked.asks("dev:jim", "deploy", 600);
        assertEquals(
                "not_pending",
                after(
                        Who.APP,
                        asked.decision("sso", "lead:bob", other, "approve"),
                        Who.APP,
                        asked.decision("sso", "lead:joe", other, "refuse")));
        assertEquals("granted", status(other));
    }

    @Test
    void a_withdrawal_and_the_end_of_a_rule_beside_an_edit_of_the_grant_are_no_deadlock()
            throws Exception {
        database.admin("UPDATE broker.access_rule SET end_access = true");
        String request = asked.asks("dev:eve", "deploy", 600);
        asked.decides("sso", "lead:bob", request, "approve");
        assertEquals(
                "withdrawn",
                after(
                        Who.TENANT_ADMIN,
                        "UPDATE broker.subject_grant SET owner = 'other'",
                        Who.APP,
                        asked.decision("sso", "lead:joe", request, "withdraw")));
        asked.decides("sso", "lead:bob", asked.asks("dev:jim", "deploy", 600), "approve");
        after(
                Who.TENANT_ADMIN,
                "UPDATE broker.subject_grant SET owner = 'another' WHERE enabled",
                Who.ADMIN,
                "UPDATE broker.access_rule SET enabled = false WHERE id = 1");
        database.assertRows("SELECT count(*) FROM broker.subject_grant WHERE enabled", "0");
    }

    /** Who holds the grant edits it next, which locks its tenant. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM broker.access_rule WHERE id = 1",
                "UPDATE broker.access_rule SET enabled = false WHERE id = 1"
            })
    void the_end_of_a_rule_locks_its_grants_before_their_tenant(String end) throws Exception {
        database.admin("UPDATE broker.access_rule SET end_access = true");
        asked.decides("sso", "lead:bob", asked.asks("dev:eve", "deploy", 600), "approve");
        database.admin("DELETE FROM broker.access_approver WHERE rule = 1");
        between(
                Who.TENANT_ADMIN,
                "SELECT id FROM broker.subject_grant FOR NO KEY UPDATE",
                "UPDATE broker.subject_grant SET owner = 'other'",
                Who.ADMIN,
                end);
        database.assertRows(
                "SELECT owner || ' ' || enabled FROM broker.subject_grant", "other false");
    }

    /** The rule's row is locked by nobody: only the tenant's lock makes its end wait. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.access_rule SET enabled = false WHERE id = 1",
                "UPDATE broker.access_rule SET max_access = 7000 WHERE id = 1"
            })
    void the_end_of_a_rule_ends_access_whose_approval_it_waited_for(String end) throws Exception {
        database.admin("UPDATE broker.access_rule SET end_access = true");
        String request = asked.asks("dev:eve", "deploy", 600);
        after(
                Who.APP,
                asked.decision("sso", "lead:bob", request, "approve"),
                Who.TENANT_ADMIN,
                end);
        database.assertRows("SELECT enabled FROM broker.subject_grant", "f");
    }

    @Test
    void a_withdrawal_beside_giving_back_is_one_end() throws Exception {
        String request = asked.asks("dev:eve", "deploy", 600);
        asked.decides("sso", "lead:bob", request, "approve");
        assertEquals(
                "not_granted",
                after(
                        Who.APP,
                        "SELECT status FROM internal.withdraw_access('acme', 'sso', 'dev:eve', '%s')"
                                .formatted(request),
                        Who.APP,
                        asked.decision("sso", "lead:joe", request, "withdraw")));
        database.assertRows("SELECT withdrawn_by IS NULL FROM broker.access_request", "t");
    }

    @Test
    void giving_back_beside_an_edit_of_the_grant_is_no_deadlock() throws Exception {
        String request = asked.asks("dev:eve", "deploy", 600);
        asked.decides("sso", "lead:bob", request, "approve");
        assertEquals(
                "withdrawn",
                after(
                        Who.TENANT_ADMIN,
                        "UPDATE broker.subject_grant SET owner = 'other'",
                        Who.APP,
                        "SELECT status FROM internal.withdraw_access('acme', 'sso', 'dev:eve', '%s')"
                                .formatted(request)));
    }

    private static final String REQUIRE_SECOND_ADMIN =
            "UPDATE broker.tenant SET require_second_admin = true";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'sso', 'ci', 'deploy')
                    INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'own', 600, '{"audience": "a"}')
                    UPDATE broker.key SET max_duration = 700 WHERE name = 'root'
                    INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'root', 'sso', 'mal', 3600)
                    UPDATE broker.access_rule SET max_access = 7200 WHERE id = 1
                    INSERT INTO broker.access_approver (rule, idp, subject) VALUES (1, 'sso', 'mal')
                    """)
    void what_is_written_beside_the_turn_on_of_a_second_admin_awaits_approval(String edit)
            throws Exception {
        after(Who.TENANT_ADMIN, REQUIRE_SECOND_ADMIN, Who.ADMIN, edit);
        database.assertRows("SELECT count(*) FROM broker.pending_approval", "1");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    UPDATE broker.blocked_subject SET enabled = false
                    UPDATE broker.blocked_subject SET until = now() + interval '1 hour'
                    UPDATE broker.blocked_subject SET claims = '{"azp": "x"}'
                    DELETE FROM broker.blocked_subject
                    """)
    void no_block_is_lifted_beside_the_turn_on_of_a_second_admin(String edit) {
        database.admin(
                "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'dev:eve', 'x'), ('acme', 'dev:mal', 'x')");
        String refusal = refusedAfter(Who.TENANT_ADMIN, REQUIRE_SECOND_ADMIN, Who.ADMIN, edit);
        assertTrue(refusal.contains("began to require a second admin at the same time"), refusal);
        database.assertRows(
                "SELECT DISTINCT concat_ws('|', enabled, until, claims, proposed) FROM broker.blocked_subject",
                "t|{}");
    }

    @Test
    void who_removes_an_approver_does_not_approve_the_rule_meanwhile() {
        database.run(Who.TENANT_ADMIN, REQUIRE_SECOND_ADMIN);
        database.admin("UPDATE broker.access_rule SET max_access = 7200 WHERE id = 1");
        String refusal =
                refusedAfter(
                        Who.TENANT_ADMIN,
                        "DELETE FROM broker.access_approver WHERE rule = 1 AND idp = 'console'",
                        Who.TENANT_ADMIN,
                        database.value("SELECT statement FROM broker.pending_approval"));
        assertTrue(refusal.contains("cannot approve it"), refusal);
    }

    @Test
    void who_is_joined_with_the_writer_meanwhile_does_not_approve() {
        database.run(Who.TENANT_ADMIN, REQUIRE_SECOND_ADMIN);
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES (1, 'test_tenant_admin', 'sso', 'lead:ann')");
        String join = database.value("SELECT statement FROM broker.pending_approval");
        database.run(
                Who.TENANT_ADMIN,
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'sso', 'ci', 'deploy')");
        String refusal =
                refusedAfter(
                        Who.ADMIN,
                        join,
                        Who.ADMIN,
                        database.value(
                                "SELECT statement FROM broker.pending_approval WHERE table_name = 'subject_grant'"));
        assertTrue(refusal.contains("cannot approve it"), refusal);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    required_claims = '{"amr": "mfa"}'
                    issuer = 'https://other.example.com'
                    accepts = '{actor}'
                    """)
    void a_vote_is_judged_by_the_identity_provider_as_the_edit_left_it(String edit)
            throws Exception {
        String request = asked.asks("dev:eve", "deploy", 600);
        String vote =
                asked.decision("sso", "lead:bob", request, "approve")
                        .replace("'{}', false", "'{\"iss\": \"https://sso.example.com\"}', false");
        String change = "UPDATE broker.identity_provider SET %s WHERE name = 'sso'".formatted(edit);
        String outcome = after(Who.ADMIN, change, Who.APP, vote);
        assertTrue(List.of("not_an_approver", "unknown_request").contains(outcome), outcome);
        assertEquals("pending", status(request));
    }

    /** The change has an earlier time than the commit, but the vote was judged by it. */
    @Test
    void a_vote_that_waited_for_the_claims_that_it_meets_counts() throws Exception {
        String request = asked.asks("dev:eve", "deploy", 7200);
        String vote =
                asked.decision("sso", "lead:bob", request, "approve")
                        .replace("'{}', false", "'{\"amr\": \"mfa\"}', false");
        after(
                Who.ADMIN,
                "UPDATE broker.identity_provider SET required_claims = '{\"amr\": \"mfa\"}' WHERE name = 'sso'",
                Who.APP,
                vote);
        assertEquals("granted", asked.decides("console", "lead:amy", request, "approve"));
    }

    /** An UPDATE that waits has an earlier time than the votes that come meanwhile. */
    @Test
    void a_vote_by_a_row_that_an_earlier_statement_changes_later_does_not_count() throws Exception {
        database.admin(
                "UPDATE broker.access_approver SET claims = '{\"groups\": \"leads\"}' WHERE rule = 2 AND idp IS NOT NULL AND role_name IS NULL");
        String request = asked.asks("dev:eve", "deploy", 7200);
        String vote =
                asked.decision("sso", "lead:bob", request, "approve")
                        .replace("'{}', false", "'{\"groups\": \"leads\"}', false");
        try (Connection holder = database.connect(Who.TENANT_ADMIN);
                Connection editor = database.connect(Who.ADMIN)) {
            holder.setAutoCommit(false);
            first(holder, "SELECT 1 FROM broker.access_rule WHERE id = 2 FOR NO KEY UPDATE");
            Future<String> edit =
                    threads.submit(() ->
                            first(
                                    editor,
                                    "UPDATE broker.access_approver SET claims = '{\"groups\": \"heads\"}' WHERE rule = 2 AND idp = 'sso' AND role_name IS NULL"));
            Eventually.holds(() ->
                    !database.column(Who.AUDITOR, "SELECT pid FROM pg_locks WHERE NOT granted")
                            .isEmpty());
            assertEquals("pending", asked.one(vote));
            holder.commit();
            edit.get();
        }
        String other =
                asked.decision("console", "lead:amy", request, "approve")
                        .replace("'{}', false", "'{\"groups\": \"leads\"}', false");
        assertEquals("pending", asked.one(other));
    }

    private static final String OTHER_TENANT =
            """
            INSERT INTO broker.tenant (name) VALUES ('globex');
            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
            VALUES ('gsso', 'globex', 'https://gsso.example.com', '{globex}');
            INSERT INTO broker.access_provider (tenant, name, type) VALUES ('globex', 'own', 'jwt');
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
            VALUES ('globex', 'deploy', 'own', 600, '{"audience": "https://globex.example.com"}');
            INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('globex', 'gsso', 'ci', 'deploy');
            INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access)
            VALUES ('globex', 'deploy', 'gsso', 'dev:*', 'glob', 1, 3600);
            INSERT INTO broker.access_approver (rule, role_name) SELECT id, 'test_admin' FROM broker.access_rule WHERE tenant = 'globex';
            """;

    private String refusedAt(Connection connection, String sql) {
        return String.valueOf(
                assertThrows(SQLException.class, () -> first(connection, sql)).getMessage());
    }

    /**
     * An approval or a decision by a login that may not make it. Even a lock of a moment can end in
     * a deadlock, which undoes the edit of the other tenant.
     */
    @Test
    void nobody_locks_rows_of_another_tenant() throws Exception {
        database.admin(OTHER_TENANT);
        String request =
                asked.one(
                        """
                        SELECT id FROM internal.request_access('globex', 'gsso', 'dev:eve', '{}', NULL, NULL, '{deploy}',
                               'to mend incident 7', 600, false)
                        """);
        String grant =
                database.value("SELECT id FROM broker.subject_grant WHERE tenant = 'globex'");
        try (Connection open = database.connect(Who.ADMIN);
                Connection stranger = database.connect(Who.TENANT_ADMIN)) {
            open.setAutoCommit(false);
            first(open, "UPDATE broker.subject_grant SET owner = 'x' WHERE tenant = 'globex'");
            first(open, "UPDATE broker.key SET owner = 'x' WHERE tenant = 'globex'");
            first(stranger, "SET lock_timeout = '1ms'");
            for (String approval :
                    List.of("'subject_grant', " + grant, "'key', 'globex', 'deploy'")) {
                String refused =
                        refusedAt(stranger, "SELECT broker.approve(%s, 1)".formatted(approval));
                assertTrue(refused.contains("you may not write rows of its tenant"), refused);
            }
            String refused =
                    refusedAt(
                            stranger,
                            "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                                    .formatted(request));
            assertTrue(refused.contains("that you may see"), refused);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"REPEATABLE READ", "SERIALIZABLE"})
    void a_decision_in_a_transaction_that_sees_an_old_state_is_refused(String level)
            throws Exception {
        String request = asked.asks("dev:eve", "deploy", 600);
        try (Connection approver = database.connect(Who.TENANT_ADMIN)) {
            approver.setAutoCommit(false);
            first(approver, "SET TRANSACTION ISOLATION LEVEL " + level);
            first(approver, "SELECT count(*) FROM broker.access_rule");
            database.admin(
                    "INSERT INTO broker.blocked_subject (subject, reason) VALUES ('dev:eve', 'INC-7')");
            String refused =
                    refusedAt(
                            approver,
                            "INSERT INTO broker.access_decision (request, verdict) VALUES ('%s', 'approve')"
                                    .formatted(request));
            assertTrue(
                    refused.contains(
                            "A decision must see what others have committed, but the transaction has isolation level "
                                    + level),
                    refused);
            assertTrue(refused.contains("BEGIN ISOLATION LEVEL READ COMMITTED;"), refused);
        }
        assertEquals("pending", status(request));
    }

    @Test
    void an_approval_of_a_row_in_a_transaction_that_sees_an_old_state_is_refused()
            throws Exception {
        database.admin(OTHER_TENANT);
        try (Connection approver = database.connect(Who.ADMIN)) {
            approver.setAutoCommit(false);
            first(approver, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
            String refused =
                    refusedAt(approver, "SELECT broker.approve('key', 'globex', 'deploy', 1)");
            assertTrue(refused.startsWith("ERROR: An approval must see"), refused);
        }
    }
}
