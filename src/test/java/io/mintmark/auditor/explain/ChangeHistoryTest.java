package io.mintmark.auditor.explain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;

import java.io.IOException;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** Every change of the configuration is on record, whoever makes it and however. */
@Tag("every-postgres")
class ChangeHistoryTest {
    @AutoClose private TestDatabase database;

    @BeforeEach
    void setUp() throws IOException {
        database = TestDatabase.filled(SqlCase.script("refusals", "setup"));
    }

    private List<String> last(String columns) {
        return database.column(
                "SELECT concat_ws(' ', %s) FROM audit.config_change WHERE tenant = 'acme' ORDER BY revision DESC LIMIT 1"
                        .formatted(columns));
    }

    private long revision() {
        return Long.parseLong(database.value("SELECT broker.revision('acme')"));
    }

    @Test
    void every_table_is_watched_by_triggers_that_a_session_can_not_silence() {
        database.assertRows(
                """
                SELECT format('%s %s', c.relname, wanted.name)
                  FROM pg_class AS c
                 CROSS JOIN unnest(ARRAY[
                           CASE WHEN c.relname IN ('provider_type', 'known_issuer') THEN 'sign_row' ELSE 'check_' || c.relname END,
                           'record_change', 'refuse_truncate']) AS wanted (name)
                  LEFT JOIN pg_trigger AS t ON t.tgrelid = c.oid AND t.tgname = wanted.name
                 WHERE c.relnamespace = 'broker'::regnamespace AND c.relkind = 'r'
                   AND t.tgenabled IS DISTINCT FROM 'A'
                """);
    }

    @Test
    void a_change_is_recorded_with_both_rows_its_login_and_its_transaction() {
        database.admin("UPDATE broker.key SET description = 'New' WHERE name = 'deploy'");
        assertEquals(
                List.of("key UPDATE New test_admin"),
                last(
                        "table_name, operation, before ->> 'description', after ->> 'description',"
                                + " changed_by"));
        database.assertRows(
                """
                SELECT (max(transaction_id) = max(transaction_id) FILTER (WHERE operation = 'UPDATE')
                        AND bool_and(changed_at <= clock_timestamp()))::text
                  FROM audit.config_change
                """,
                "true");
    }

    @Test
    void an_insert_has_nothing_before_and_a_delete_nothing_after() {
        database.admin("DELETE FROM broker.subject_grant WHERE key = 'api'");
        assertEquals(List.of("DELETE api t"), last("operation, before ->> 'key', after IS NULL"));
        database.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci',"
                        + " 'x', 'api')");
        assertEquals(List.of("INSERT t x"), last("operation, before IS NULL, after ->> 'subject'"));
    }

    @Test
    void a_superuser_who_plays_a_replica_is_recorded_too() {
        database.runAsSuperuser(
                "SET session_replication_role = replica; UPDATE broker.subject_grant SET enabled ="
                        + " false WHERE key = 'api'");
        assertEquals(List.of("UPDATE postgres"), last("operation, changed_by"));
    }

    @Test
    void who_takes_on_a_role_is_recorded_under_the_login() {
        database.runAsSuperuser(
                "SET ROLE mintmark_admin; UPDATE broker.subject_grant SET enabled = false WHERE key"
                        + " = 'api'");
        assertEquals(List.of("postgres postgres"), last("changed_by, after ->> 'updated_by'"));
    }

    /** What the function does is recorded before what called it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.subject_grant SET reason = 'again' WHERE id = changed",
                "DELETE FROM broker.subject_grant WHERE id = changed"
            })
    void a_statement_changes_a_row_once(String again) throws SQLException {
        long before = revision();
        try (Connection admin = database.connect(Who.ADMIN);
                Statement statement = admin.createStatement()) {
            statement.execute(
                    """
                    CREATE FUNCTION pg_temp.again(changed bigint) RETURNS bigint LANGUAGE plpgsql AS $f$
                    BEGIN %s; RETURN changed; END $f$
                    """
                            .formatted(again));
            for (String outer :
                    List.of(
                            "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES"
                                    + " ('acme', 'ci', 'x', 'api')",
                            "UPDATE broker.subject_grant SET reason = 'once' WHERE key = 'api'")) {
                SQLException refused =
                        assertThrows(
                                SQLException.class,
                                () -> statement.execute(outer + " RETURNING pg_temp.again(id)"));
                assertEquals("27000", refused.getSQLState(), refused::toString);
            }
        }
        assertEquals(before, revision());
    }

    @Test
    void an_upsert_and_a_merge_are_recorded_as_what_they_did() {
        database.admin(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'api', 'own', 300, '{"audience": "https://api.example.com"}')
                    ON CONFLICT (tenant, name) DO UPDATE SET max_duration = excluded.max_duration
                """);
        assertEquals(List.of("UPDATE 300"), last("operation, after ->> 'max_duration'"));
        database.admin(
                """
                MERGE INTO broker.subject_grant AS g
                USING (VALUES ('repo:acme/app:main')) AS v (subject)
                   ON g.tenant = 'acme' AND g.subject = v.subject AND g.key = 'api'
                 WHEN MATCHED THEN DELETE
                """);
        assertEquals(List.of("subject_grant DELETE"), last("table_name, operation"));
    }

    @Test
    void what_an_owner_copies_in_is_recorded() throws SQLException, IOException {
        try (Connection owner = database.connect(Who.OWNER)) {
            owner.createStatement().execute("SET ROLE mintmark_owner");
            owner.unwrap(PGConnection.class)
                    .getCopyAPI()
                    .copyIn(
                            "COPY broker.subject_grant (tenant, idp, subject, key) FROM STDIN",
                            new StringReader("acme\tci\tcopied\tapi\n"));
        }
        assertEquals(
                List.of("INSERT copied test_owner"),
                last("operation, after ->> 'subject', changed_by"));
    }

    @Test
    void what_changes_nothing_and_what_is_rolled_back_is_not_recorded() throws SQLException {
        long before = revision();
        database.admin("UPDATE broker.key SET enabled = enabled");
        try (Connection admin = database.connect(Who.ADMIN);
                Statement statement = admin.createStatement()) {
            admin.setAutoCommit(false);
            statement.execute("DELETE FROM broker.subject_grant");
            admin.rollback();
        }
        assertEquals(before, revision());
    }

    @Test
    void revisions_count_the_changes_of_a_tenant_without_gaps() {
        database.admin(
                "UPDATE broker.key SET description = 'A'; UPDATE broker.key SET description = 'B'");
        database.assertRows(
                "SELECT bool_and(revision = number) FROM (SELECT revision, row_number() OVER"
                        + " (PARTITION BY tenant ORDER BY revision) AS number FROM"
                        + " audit.config_change) AS c",
                "t");
    }

    /**
     * Whoever may connect can fill the queue of notifications, and then commits that notify fail.
     */
    @Test
    void no_edit_depends_on_notifications() {
        database.assertRows(
                "SELECT p.proname FROM pg_proc AS p JOIN pg_namespace AS n"
                        + " ON n.oid = p.pronamespace WHERE p.prosrc ILIKE '%notify%'"
                        + " AND n.nspname IN ('broker', 'audit', 'log', 'internal', 'runtime', 'work')");
    }

    @Test
    void two_editors_of_one_tenant_wait_for_each_other_and_a_stale_one_repeats()
            throws SQLException {
        try (Connection stale = database.connect(Who.ADMIN);
                Statement statement = stale.createStatement()) {
            stale.setAutoCommit(false);
            stale.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            statement.execute("SELECT count(*) FROM broker.key");
            database.admin("UPDATE broker.key SET description = 'A' WHERE name = 'api'");
            SQLException refused =
                    assertThrows(
                            SQLException.class,
                            () ->
                                    statement.execute(
                                            "UPDATE broker.key SET description = 'B' WHERE name ="
                                                    + " 'deploy'"));
            assertEquals("40001", refused.getSQLState());
        }
    }

    @Test
    void a_key_and_its_provider_can_not_change_past_each_other() throws Exception {
        try (Connection one = database.connect(Who.ADMIN);
                Statement statement = one.createStatement()) {
            one.setAutoCommit(false);
            statement.execute(
                    "UPDATE broker.access_provider SET allowed_targets ="
                            + " '{arn:aws:iam::123456789012:role/cd-*,arn:aws:iam::123456789012:role/ci-deploy}'"
                            + " WHERE tenant = 'acme' AND name = 'aws'");
            Thread other =
                    Thread.ofVirtual()
                            .start(() ->
                                    assertThrows(
                                            IllegalStateException.class,
                                            () ->
                                                    database.admin(
                                                            "INSERT INTO broker.key (tenant, name,"
                                                                    + " provider, max_duration,"
                                                                    + " settings) VALUES ('acme',"
                                                                    + " 'late', 'aws', 900,"
                                                                    + " '{\"role_arn\":"
                                                                    + " \"arn:aws:iam::123456789012:role/ci-late\"}')")));
            Eventually.holds(this::somebodyWaits);
            one.commit();
            other.join();
        }
        database.assertRows("SELECT name FROM broker.key WHERE name = 'late'");
    }

    @Test
    void of_two_who_want_an_audience_at_the_same_time_one_gets_it() throws Exception {
        String insert =
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('%s', '%s', 'https://new.example.com', '{first,wanted}')
                """;
        try (Connection one = database.connect(Who.ADMIN);
                Statement statement = one.createStatement()) {
            one.setAutoCommit(false);
            statement.execute(insert.formatted("winner", "acme"));
            Thread loser =
                    Thread.ofVirtual()
                            .start(() ->
                                    assertThrows(
                                            IllegalStateException.class,
                                            () ->
                                                    database.admin(
                                                            insert.formatted("loser", "other"))));
            Eventually.holds(this::somebodyWaits);
            one.commit();
            loser.join();
        }
        database.assertRows(
                "SELECT name FROM broker.identity_provider WHERE issuer ="
                        + " 'https://new.example.com'",
                "winner");
    }

    @Test
    void a_login_that_can_not_see_whose_an_audience_is_does_not_get_it() throws SQLException {
        database.runAsSuperuser(
                """
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin');
                GRANT INSERT (name, tenant, issuer, audiences) ON broker.identity_provider
                   TO mintmark_tenant_admin;
                CREATE POLICY for_this_test ON broker.identity_provider
                   FOR INSERT TO mintmark_tenant_admin WITH CHECK (true);
                """);
        try (Connection blind = database.connect(Who.TENANT_ADMIN);
                Statement statement = blind.createStatement()) {
            SQLException refused =
                    assertThrows(
                            SQLException.class,
                            () ->
                                    statement.execute(
                                            """
                                            INSERT INTO broker.identity_provider
                                                   (name, tenant, issuer, audiences)
                                            VALUES ('mine', 'acme', 'https://ci.example.com', '{new,other}')
                                            """));
            assertEquals("23505", refused.getSQLState());
            String message = String.valueOf(refused.getMessage());
            assertTrue(
                    message.contains("with audience \"other\" already belongs to another"),
                    message);
            assertFalse(message.contains("elsewhere"), message);
        }
    }

    private boolean somebodyWaits() {
        return !database.column("SELECT pid FROM pg_locks WHERE NOT granted").isEmpty();
    }
}
