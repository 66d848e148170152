package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
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
            open.commit();
            return waiting.get();
        }
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
}
