package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** What a transaction would change, looked at before it is committed. */
@Tag("every-postgres")
class PendingChangeTest {
    private static final String PENDING =
            """
            SELECT concat_ws(' ', tenant, table_name, operation, name,
                             before ->> 'max_duration', '->', after ->> 'max_duration')
              FROM broker.pending_change
            """;
    private static final String NEW_KEY =
            """
            INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
            VALUES ('acme', 'new', 'own', 60, '{"audience": "https://api.example.com/new"}')
            """;

    @AutoClose private static TestDatabase database;

    @BeforeAll
    static void setUp() throws IOException {
        database = TestDatabase.migrated();
        database.admin(SqlCase.script("refusals", "setup"));
        database.admin("DELETE FROM broker.access_approver; DELETE FROM broker.access_rule");
        database.admin(
                """
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', '%s')
                """
                        .formatted(Who.TENANT_ADMIN.login()));
    }

    /** What is pending after these statements, in a transaction that is rolled back. */
    private static List<String> pendingAfter(Who who, String... statements) throws SQLException {
        try (Connection connection = database.connect(who);
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            for (String one : statements) {
                statement.execute(one);
            }
            List<String> pending = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery(PENDING)) {
                while (rows.next()) {
                    pending.add(rows.getString(1));
                }
            }
            connection.rollback();
            return pending;
        }
    }

    @Test
    void a_plan_lists_each_row_that_a_commit_would_change_in_the_order_of_the_statements()
            throws SQLException {
        assertEquals(
                List.of(
                        "acme key INSERT new -> 60",
                        "acme key UPDATE deploy 3600 -> 1800",
                        "acme key DELETE exchanged 600 ->"),
                pendingAfter(
                        Who.ADMIN,
                        NEW_KEY,
                        "UPDATE broker.key SET max_duration = 1800 WHERE tenant = 'acme' AND name ="
                                + " 'deploy'",
                        "DELETE FROM broker.key WHERE tenant = 'acme' AND name = 'exchanged'"));
        assertEquals(List.of(), database.column(Who.ADMIN, PENDING), "it was only a plan");
    }

    @Test
    void what_is_changed_twice_is_told_in_sum() throws SQLException {
        assertEquals(
                List.of("acme key UPDATE deploy 3600 -> 1200", "acme key INSERT new -> 90"),
                pendingAfter(
                        Who.ADMIN,
                        "UPDATE broker.key SET max_duration = 1800 WHERE tenant = 'acme' AND name ="
                                + " 'deploy'",
                        "UPDATE broker.key SET max_duration = 1200 WHERE tenant = 'acme' AND name ="
                                + " 'deploy'",
                        NEW_KEY,
                        "UPDATE broker.key SET max_duration = 90 WHERE tenant = 'acme' AND name ="
                                + " 'new'"));
    }

    @Test
    void what_is_again_as_it_was_is_not_pending() throws SQLException {
        assertEquals(
                List.of(),
                pendingAfter(
                        Who.ADMIN,
                        NEW_KEY,
                        "DELETE FROM broker.key WHERE tenant = 'acme' AND name = 'new'",
                        "UPDATE broker.key SET max_duration = 1800 WHERE tenant = 'acme' AND name ="
                                + " 'deploy'",
                        "UPDATE broker.key SET max_duration = 3600 WHERE tenant = 'acme' AND name ="
                                + " 'deploy'",
                        "UPDATE broker.key SET max_duration = max_duration"));
    }

    @Test
    void a_row_with_a_new_name_is_one_that_goes_and_one_that_comes() throws SQLException {
        assertEquals(
                List.of(
                        "acme key INSERT twice -> 60",
                        "acme key DELETE exchanged 600 ->",
                        "acme key INSERT swapped -> 600"),
                pendingAfter(
                        Who.ADMIN,
                        NEW_KEY,
                        "UPDATE broker.key SET name = 'once' WHERE name = 'new'",
                        "UPDATE broker.key SET name = 'twice' WHERE name = 'once'",
                        "UPDATE broker.key SET name = 'swapped' WHERE name = 'exchanged'"));
    }

    @Test
    void a_row_that_is_deleted_and_written_anew_is_changed() throws SQLException {
        assertEquals(
                List.of("acme key UPDATE exchanged 600 -> 300"),
                pendingAfter(
                        Who.ADMIN,
                        "DELETE FROM broker.key WHERE tenant = 'acme' AND name = 'exchanged'",
                        """
                        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                        VALUES ('acme', 'exchanged', 'own', 300, '{"audience": "https://api.example.com"}')
                        """));
    }

    @Test
    void what_a_savepoint_took_back_is_not_pending_and_what_it_kept_is() throws SQLException {
        assertEquals(
                List.of("acme key INSERT new -> 60"),
                pendingAfter(
                        Who.ADMIN,
                        "SAVEPOINT one",
                        NEW_KEY,
                        "RELEASE one",
                        "SAVEPOINT two",
                        "DELETE FROM broker.key WHERE name = 'new'",
                        "ROLLBACK TO two"));
    }

    @Test
    void rows_without_a_name_are_told_by_what_they_have_for_one() throws SQLException {
        List<String> pending =
                pendingAfter(
                        Who.ADMIN,
                        "INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES"
                                + " ('https://shared.example', '{org}')",
                        "INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('other',"
                                + " 'test_tenant_admin')",
                        "UPDATE broker.tenant SET max_keys = 7 WHERE name = 'other'",
                        "UPDATE broker.subject_grant SET reason = 'OPS-1' WHERE key = 'api'");
        String grant = database.value("SELECT id FROM broker.subject_grant WHERE key = 'api'");
        assertEquals(
                List.of(
                        "shared_issuer INSERT https://shared.example ->",
                        "acme subject_grant UPDATE %s 60 -> 60".formatted(grant),
                        "other tenant_admin INSERT test_tenant_admin ->",
                        "other tenant UPDATE other 3600 -> 3600"),
                pending);
    }

    @Test
    void a_tenant_admin_plans_for_her_tenant() throws SQLException {
        assertEquals(List.of("acme key INSERT new -> 60"), pendingAfter(Who.TENANT_ADMIN, NEW_KEY));
    }

    @Test
    void nobody_sees_what_another_session_has_pending() throws SQLException {
        try (Connection other = database.connect(Who.ADMIN);
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("UPDATE broker.tenant SET max_keys = 7 WHERE name = 'other'");
            assertEquals(List.of("acme key INSERT new -> 60"), pendingAfter(Who.ADMIN, NEW_KEY));
            other.rollback();
        }
    }

    @Test
    void changes_of_another_cluster_with_the_same_number_of_transaction_are_not_pending()
            throws SQLException {
        try (Connection connection = database.connect(Who.ADMIN);
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute(NEW_KEY);
            database.runAsSuperuser(
                    """
                    INSERT INTO audit.config_change
                           (tenant, revision, table_name, operation, after, changed_by, changed_at,
                            transaction_id, prev_hash, hash)
                    SELECT 'of a dump', 1, 'key', 'INSERT', '{"name": "of a dump"}', 'x', now() - interval '1 day',
                           backend_xid::text::bigint, sha256(''), sha256('')
                      FROM pg_stat_activity
                     WHERE datname = current_database() AND usename = 'test_admin'
                       AND backend_xid IS NOT NULL
                    """);
            database.assertRows(
                    "SELECT count(*) FROM audit.config_change WHERE tenant = 'of a dump'", "1");
            try (ResultSet rows = statement.executeQuery(PENDING)) {
                rows.next();
                assertEquals("acme key INSERT new -> 60", rows.getString(1));
                assertFalse(rows.next());
            }
            connection.rollback();
        }
    }

    @Test
    void a_plan_holds_its_tenant_until_it_ends_and_ends_by_itself() throws SQLException {
        try (Connection planner = database.connect(Who.TENANT_ADMIN);
                Statement plan = planner.createStatement();
                Connection other = database.connect(Who.ADMIN);
                Statement edit = other.createStatement()) {
            planner.setAutoCommit(false);
            plan.execute(NEW_KEY);
            edit.execute("SET lock_timeout = '50ms'");
            String raise = "UPDATE broker.tenant SET max_keys = 1001 WHERE name = 'acme'";
            assertEquals(
                    "55P03",
                    assertThrows(SQLException.class, () -> edit.execute(raise)).getSQLState());
            plan.execute("SET LOCAL idle_in_transaction_session_timeout = '300ms'");
            edit.execute("SET lock_timeout = '3min'");
            edit.execute(raise);
            assertThrows(SQLException.class, () -> plan.execute("SELECT 1"));
        }
    }
}
