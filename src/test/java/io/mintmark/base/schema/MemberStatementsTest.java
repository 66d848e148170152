package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What a mere member of a group role can do to others: each statement that PostgreSQL lets a member
 * run, by each login. While its transaction is open, nothing may be locked that others need, and
 * after it everything of the schema is there.
 */
@Tag("every-postgres")
class MemberStatementsTest {
    /** With %1$s for the group role, %2$s for the login, %3$s for another group role. */
    private static final List<String> STATEMENTS =
            List.of(
                    "DROP OWNED BY %1$s",
                    "DROP OWNED BY %1$s CASCADE",
                    "DROP OWNED BY %2$s CASCADE",
                    "DROP OWNED BY CURRENT_USER, %1$s",
                    "DROP OWNED BY %3$s CASCADE",
                    "DROP OWNED BY mintmark_owner CASCADE",
                    "SET ROLE %1$s; DROP OWNED BY CURRENT_ROLE CASCADE",
                    "SET ROLE %3$s; DROP OWNED BY CURRENT_ROLE CASCADE",
                    "REASSIGN OWNED BY %1$s TO %2$s",
                    "REASSIGN OWNED BY %2$s TO %1$s",
                    "REASSIGN OWNED BY mintmark_owner TO %2$s",
                    "ALTER DEFAULT PRIVILEGES FOR ROLE %1$s GRANT ALL ON TABLES TO PUBLIC",
                    "ALTER DEFAULT PRIVILEGES FOR ROLE %1$s REVOKE ALL ON FUNCTIONS FROM PUBLIC",
                    "ALTER DEFAULT PRIVILEGES FOR ROLE mintmark_owner GRANT ALL ON TABLES TO %1$s",
                    "ALTER DEFAULT PRIVILEGES IN SCHEMA broker REVOKE ALL ON TABLES FROM PUBLIC",
                    "REVOKE ALL ON ALL TABLES IN SCHEMA broker, audit, runtime, internal FROM %1$s CASCADE",
                    "REVOKE ALL ON SCHEMA broker, audit FROM %1$s CASCADE",
                    "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA internal FROM PUBLIC, %1$s CASCADE",
                    "GRANT SELECT ON broker.key TO PUBLIC",
                    "GRANT %1$s TO %2$s WITH ADMIN OPTION",
                    "REVOKE %1$s FROM %2$s",
                    "SET ROLE %1$s; ALTER ROLE %1$s SET search_path = pg_temp",
                    "SET ROLE %1$s; ALTER ROLE %1$s PASSWORD 'known'",
                    "ALTER ROLE %1$s NOINHERIT",
                    "ALTER ROLE %2$s CREATEROLE",
                    "ALTER ROLE ALL SET search_path = pg_temp",
                    "DROP ROLE %1$s",
                    "ALTER ROLE %1$s RENAME TO away",
                    "COMMENT ON ROLE %1$s IS 'x'",
                    "COMMENT ON TABLE broker.key IS 'x'",
                    "COMMENT ON POLICY auditors_read_every_row ON broker.key IS 'x'",
                    "COMMENT ON TRIGGER record_change ON broker.key IS 'x'",
                    "COMMENT ON COLUMN audit.event.tenant IS 'x'",
                    "LOCK TABLE audit.event IN SHARE MODE",
                    "LOCK TABLE audit.config_change IN SHARE MODE",
                    "LOCK TABLE broker.provider_type, broker.known_issuer IN EXCLUSIVE MODE",
                    "LOCK TABLE runtime.schema_version IN ACCESS EXCLUSIVE MODE",
                    "LOCK TABLE audit.mint IN ACCESS EXCLUSIVE MODE",
                    "SELECT FROM broker.tenant FOR UPDATE",
                    "SELECT FROM audit.event FOR SHARE",
                    "CREATE TEMP TABLE key (name text); CREATE TEMP TABLE event (one int)",
                    "CREATE TEMP TABLE more () INHERITS (broker.key)",
                    "CREATE TEMP TABLE more (LIKE broker.key INCLUDING ALL)",
                    "CREATE TEMP TABLE more (tenant text REFERENCES broker.tenant)",
                    "CREATE TEMP TABLE more (c timestamptz) PARTITION BY RANGE (c); ALTER TABLE more ATTACH PARTITION broker.key DEFAULT",
                    "CREATE TEMP VIEW more AS SELECT FROM broker.key",
                    "CREATE FUNCTION pg_temp.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz'",
                    "CREATE TABLE broker.more (one int)",
                    "CREATE TABLE public.more (one int)",
                    "CREATE SCHEMA more",
                    "CREATE FUNCTION internal.more() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                    "CREATE TRIGGER more BEFORE INSERT ON audit.event EXECUTE FUNCTION suppress_redundant_updates_trigger()",
                    "CREATE RULE more AS ON INSERT TO audit.event DO INSTEAD NOTHING",
                    "CREATE POLICY more ON broker.key USING (false)",
                    "CREATE INDEX ON audit.event (tenant)",
                    "CREATE STATISTICS more ON tenant, name FROM broker.key",
                    "CREATE PUBLICATION more FOR TABLE broker.key",
                    "CREATE EVENT TRIGGER more ON ddl_command_start EXECUTE FUNCTION internal.refuse_change()",
                    "ALTER TABLE broker.key DISABLE ROW LEVEL SECURITY",
                    "ALTER TABLE broker.key DISABLE TRIGGER ALL",
                    "ALTER TABLE broker.key OWNER TO %2$s",
                    "ALTER TABLE audit.event DETACH PARTITION audit.event_2026_11",
                    "ALTER POLICY auditors_read_every_row ON broker.key USING (false)",
                    "ALTER FUNCTION internal.login_is(text) VOLATILE",
                    "ALTER SCHEMA broker RENAME TO away",
                    "ALTER SEQUENCE broker.subject_grant_id_seq RESTART",
                    "DROP POLICY auditors_read_every_row ON broker.key",
                    "DROP TRIGGER record_change ON broker.key",
                    "DROP FUNCTION internal.login_is(text) CASCADE",
                    "DROP TABLE broker.key CASCADE",
                    "DROP SCHEMA broker CASCADE",
                    "TRUNCATE broker.key CASCADE",
                    "CLUSTER broker.key USING a_key_name_is_taken_once_in_a_tenant",
                    "REINDEX TABLE broker.key",
                    "ANALYZE broker.key",
                    "SELECT setval('broker.subject_grant_id_seq', 1)",
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'test_owner'",
                    "SECURITY LABEL ON TABLE broker.key IS 'x'",
                    "SET session_replication_role = replica",
                    "SET SESSION AUTHORIZATION test_owner",
                    "SET ROLE mintmark_owner");

    /** Classes of SQLSTATE: all but failed locks, connections and the like. */
    private static final Set<String> REFUSALS = Set.of("42", "0A", "22", "25", "2B");

    /** What others still do. */
    private static final List<String> NEEDED =
            List.of(
                    "SELECT string_agg(name, ',' ORDER BY name) FROM broker.key",
                    "SELECT count(*) FROM broker.subject_grant");

    @AutoClose private static TestDatabase database;

    @BeforeAll
    static void setUp() throws IOException {
        database = TestDatabase.migrated();
        database.admin(SqlCase.script("roles", "setup"));
    }

    @TestFactory
    Stream<DynamicTest> no_statement_of_a_member_stops_others_or_takes_anything_away() {
        List<DynamicTest> tests = new ArrayList<>();
        for (Who who : Who.values()) {
            if (who != Who.OWNER) {
                STATEMENTS.forEach(
                        sql -> tests.add(dynamicTest(who + " " + sql, () -> check(who, sql))));
                tests.add(
                        dynamicTest(
                                who + " leaves everything as it is",
                                MemberStatementsTest::requireSchema));
            }
        }
        return tests.stream();
    }

    private static void check(Who who, String statements) throws SQLException {
        String sql = statements.formatted(who.role(), who.login(), other(who));
        List<String> before = seen();
        try (Connection member =
                        DriverManager.getConnection(
                                database.url(), who.login(), TestDatabase.PASSWORD);
                Statement statement = member.createStatement()) {
            member.setAutoCommit(false);
            statement.execute("SET lock_timeout = '5s'");
            long process = number(statement);
            try {
                statement.execute(sql);
            } catch (SQLException e) {
                // refused, and the transaction is left open all the same
                assertTrue(REFUSALS.contains(e.getSQLState().substring(0, 2)), e::toString);
            }
            assertEquals(List.of(), database.column(locked(process)));
            assertEquals(before, seen());
            member.commit();
        }
        assertEquals(before, seen());
    }

    private static void requireSchema() {
        assertEquals(
                List.of(),
                new SchemaCheck(database.login(Who.AUDITOR)).differences(TestDatabase.ROLES));
    }

    private static String other(Who who) {
        return (who == Who.ADMIN ? Who.TENANT_ADMIN : Who.ADMIN).role();
    }

    private static long number(Statement statement) throws SQLException {
        try (var rows = statement.executeQuery("SELECT pg_backend_pid()")) {
            rows.next();
            return rows.getLong(1);
        }
    }

    private static List<String> seen() {
        List<String> seen = new ArrayList<>();
        for (Who who : List.of(Who.APP, Who.ADMIN, Who.TENANT_ADMIN, Who.AUDITOR)) {
            NEEDED.forEach(sql -> seen.add(who + " " + database.column(who, sql)));
        }
        return seen;
    }

    /** Modes that hold up readers or writers of a table. */
    private static String locked(long process) {
        return """
        SELECT l.relation::regclass || ' ' || l.mode FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation
         WHERE l.pid = %d AND l.granted
           AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
           AND c.relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('broker', 'audit', 'internal', 'runtime'))
        """
                .formatted(process);
    }
}
