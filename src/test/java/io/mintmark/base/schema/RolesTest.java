package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

import java.io.IOException;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** What each login may do, tried by logging in as it; the cases are files. */
@Tag("every-postgres")
class RolesTest {
    private static final String EVENT =
            """
            INSERT INTO audit.event
                   (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
                    reason, broker)
            SELECT cast(overlay(cast(audit.first_mint_id(now()) AS text) placing '7' from 15 for 1)
                        AS uuid), 2, 'denied', now(), 'r', t.name, p.name, p.issuer, 'main', 'k',
                   'not_granted', 'test'
              FROM broker.tenant AS t JOIN broker.identity_provider AS p ON p.tenant = t.name
             WHERE t.name = '%s'
            """;

    @AutoClose private static TestDatabase database;

    @BeforeAll
    static void setUp() throws IOException {
        database = TestDatabase.migrated();
        database.admin(SqlCase.script("roles", "setup"));
        database.runAsSuperuser(EVENT.formatted("acme"));
        long millisecond = System.currentTimeMillis(); // which is the mint id here
        Eventually.holds(() -> System.currentTimeMillis() > millisecond + 1);
        database.runAsSuperuser(EVENT.formatted("other"));
    }

    @TestFactory
    Stream<DynamicTest> a_role_may_do_its_work_and_nothing_else() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (Who who : Who.values()) {
            String file = who.name().toLowerCase(Locale.ROOT);
            for (SqlCase one : SqlCase.in("roles", file)) {
                tests.add(dynamicTest(file + " " + one.name(), () -> check(who, one)));
            }
        }
        return tests.stream();
    }

    private static void check(Who who, SqlCase one) throws SQLException {
        one.check(database, who);
    }

    @ParameterizedTest
    @ValueSource(strings = {"infinity", "-infinity", "10000-01-01Z", "0001-12-31Z BC"})
    void the_service_writes_no_time_that_auditors_cannot_read(String time) throws SQLException {
        String event =
                """
                INSERT INTO audit.event
                       (mint_id, step, kind, occurred_at, request_id, issuer, reason, broker)
                VALUES (overlay(audit.first_mint_id(now())::text placing '7' from 15 for 1)::uuid,
                        2, 'rejected', '%s', 'r', 'https://ci.example.com', 'token_expired', 'test')
                """
                        .formatted(time);
        try (Connection connection = database.connect(Who.APP);
                Statement statement = connection.createStatement()) {
            SQLException refused = assertThrows(SQLException.class, () -> statement.execute(event));
            assertTrue(
                    String.valueOf(refused.getMessage())
                            .contains("times_are_within_the_years_1_to_9999"),
                    refused.getMessage());
        }
    }

    @Test
    void a_login_without_the_role_is_named_as_tenant_admin_with_a_warning() throws SQLException {
        String login = Who.AUDITOR.login();
        try (Connection admin = database.connect(Who.ADMIN);
                Statement statement = admin.createStatement()) {
            admin.setAutoCommit(false);

            statement.execute(
                    "INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', '%s')"
                            .formatted(login));

            String warning = String.valueOf(statement.getWarnings());
            assertTrue(
                    warning.contains("Login \"%s\" is not a member of".formatted(login)), warning);
            admin.rollback();
        }
    }

    @Test
    void tenant_admins_read_no_partition_past_the_policies() {
        database.assertRows(
                """
                SELECT i.inhrelid::regclass FROM pg_inherits AS i
                 WHERE i.inhparent::regclass::text = 'log.event'
                   AND has_any_column_privilege('mintmark_tenant_admin', i.inhrelid, 'SELECT')
                """);
    }

    /** A statement on a table waits for its readers before PostgreSQL asks whose table it is. */
    @Test
    void only_the_service_can_name_a_table_that_mints_write() {
        database.assertRows(
                """
                SELECT n.nspname || ' ' || r.rolname
                  FROM pg_namespace AS n CROSS JOIN pg_roles AS r
                 WHERE r.rolname IN ('mintmark_app', 'mintmark_admin', 'mintmark_tenant_admin', 'mintmark_auditor', 'mintmark_console')
                   AND has_schema_privilege(r.oid, n.oid, 'USAGE')
                   AND n.nspname IN ('log', 'work')
                 ORDER BY n.nspname
                """,
                "log mintmark_app",
                "work mintmark_app");
        database.assertRows(
                """
                SELECT c.oid::regclass FROM pg_class AS c
                 WHERE c.relnamespace = 'audit'::regnamespace AND c.relkind NOT IN ('v', 'c')
                    OR c.relnamespace = 'runtime'::regnamespace AND c.relkind NOT IN ('v', 'c', 'i')
                   AND c.relname NOT IN ('schema_version', 'flyway_schema_history')
                """);
    }

    @Test
    void a_view_of_the_log_has_the_columns_and_comments_of_its_table() {
        database.assertRows(
                """
                SELECT t.oid::regclass
                  FROM pg_class AS t
                  JOIN pg_class AS v ON v.relnamespace = 'audit'::regnamespace AND v.relname = t.relname
                 WHERE t.relnamespace = 'log'::regnamespace AND t.relkind IN ('r', 'p') AND NOT t.relispartition
                   AND obj_description(t.oid, 'pg_class') = obj_description(v.oid, 'pg_class')
                   AND ARRAY(SELECT (a.attname, col_description(t.oid, a.attnum))::text FROM pg_attribute AS a
                              WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)
                     = ARRAY(SELECT (a.attname, col_description(v.oid, a.attnum))::text FROM pg_attribute AS a
                              WHERE a.attrelid = v.oid AND a.attnum > 0 ORDER BY a.attnum)
                 ORDER BY t.relname
                """,
                "log.checkpoint",
                "log.config_change",
                "log.cosignature",
                "log.event",
                "log.open_mint",
                "log.verification");
    }

    @Test
    void a_tenant_admin_copies_out_the_rows_of_its_tenants_alone()
            throws SQLException, IOException {
        try (Connection connection = database.connect(Who.TENANT_ADMIN)) {
            CopyManager copy = connection.unwrap(PGConnection.class).getCopyAPI();
            StringWriter keys = new StringWriter();
            copy.copyOut("COPY (SELECT name FROM broker.key) TO STDOUT", keys);
            copy.copyOut("COPY broker.key (name) TO STDOUT", keys);
            assertEquals("api\napi\n", keys.toString());
        }
    }

    @Test
    void a_tenant_admin_sees_its_tenant_alone_in_every_view() throws SQLException {
        List<String> views =
                database.column(
                        """
                        SELECT c.oid::regclass FROM pg_class AS c
                         WHERE c.relnamespace IN ('broker'::regnamespace, 'audit'::regnamespace)
                           AND c.relkind = 'v'
                           AND has_table_privilege('mintmark_tenant_admin', c.oid, 'SELECT')
                           AND c.oid <> 'audit.role_member'::regclass
                        """);
        for (String view : views) {
            String others =
                    "SELECT count(*) FROM %s WHERE tenant IS DISTINCT FROM 'acme'".formatted(view);
            SqlCase one = new SqlCase(view, others, "0", "", "");
            one.check(database, Who.TENANT_ADMIN);
        }
    }

    @Test
    void every_table_with_a_tenant_that_tenant_admins_read_has_row_security() {
        database.assertRows(
                """
                SELECT a.attrelid::regclass
                  FROM pg_attribute AS a
                  JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p')
                 WHERE c.relnamespace IN ('broker'::regnamespace, 'log'::regnamespace)
                   AND a.attname IN ('tenant', 'external_id') AND NOT c.relrowsecurity
                   AND has_any_column_privilege('mintmark_tenant_admin', c.oid, 'SELECT')
                """);
    }

    @Test
    void every_view_shows_its_reader_no_more_than_the_tables_would() {
        database.assertRows(
                """
                SELECT c.oid::regclass FROM pg_class AS c
                 WHERE c.relnamespace IN ('broker'::regnamespace, 'audit'::regnamespace)
                   AND c.relkind IN ('v', 'm')
                   AND NOT coalesce('security_invoker=true' = ANY (c.reloptions), false)
                """);
    }

    @Test
    void every_function_that_runs_as_its_owner_has_a_fixed_search_path() {
        database.assertRows(
                """
                SELECT p.oid::regprocedure FROM pg_proc AS p
                 WHERE p.pronamespace IN ('broker'::regnamespace, 'audit'::regnamespace,
                                          'log'::regnamespace, 'work'::regnamespace,
                                          'runtime'::regnamespace,
                                          'internal'::regnamespace)
                   AND p.prosecdef
                   AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig),
                                    false)
                """);
    }

    @Test
    void nothing_that_runs_as_its_owner_may_be_called_by_everybody() {
        database.assertRows(
                """
                SELECT p.oid::regprocedure FROM pg_proc AS p, aclexplode(p.proacl) AS a
                 WHERE p.pronamespace IN ('broker'::regnamespace, 'audit'::regnamespace,
                                          'log'::regnamespace, 'work'::regnamespace,
                                          'runtime'::regnamespace,
                                          'internal'::regnamespace)
                   AND a.grantee = 0
                """);
    }

    /**
     * A refusal of the log would otherwise tell the service about a privilege, not about its row.
     */
    @Test
    void the_service_may_call_what_its_functions_call() {
        database.assertRows(
                """
                WITH own AS (
                    SELECT p.oid, p.proname, pg_get_functiondef(p.oid) AS text, p.prosecdef, p.prorettype = 'trigger'::regtype AS fires,
                           has_function_privilege('mintmark_app', p.oid, 'EXECUTE') AS callable
                      FROM pg_proc AS p WHERE p.pronamespace = 'internal'::regnamespace AND p.prokind = 'f')
                SELECT DISTINCT called.oid::regprocedure
                  FROM own AS caller CROSS JOIN LATERAL regexp_matches(caller.text, 'internal\\.(\\w+)\\(', 'g') AS m
                  JOIN own AS called ON called.proname = m[1] AND NOT called.callable
                 WHERE NOT caller.prosecdef AND called.oid <> caller.oid
                   AND (caller.callable AND NOT caller.fires
                        OR EXISTS (SELECT FROM pg_trigger AS t
                                    WHERE t.tgfoid = caller.oid
                                      AND (has_table_privilege('mintmark_app', t.tgrelid, 'INSERT')
                                           OR has_any_column_privilege('mintmark_app', t.tgrelid, 'UPDATE'))))
                """);
    }

    /** The plan of broker.lint alone would be compiled for seconds. */
    @Test
    void sessions_of_people_do_not_compile_plans() {
        try (TestDatabase own = TestDatabase.unmigrated()) {
            own.assertRows(Who.TENANT_ADMIN, "SHOW jit", "off");
        }
    }
}
