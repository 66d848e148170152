package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.schema.LoginCheck;
import io.mintmark.base.schema.Migrations;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** db/limit-logins.sql against statements that stop every mint, and beside what must go on. */
@Tag("every-postgres")
class LimitedLoginsTest {
    private static final String REFUSED = "42501";
    private static final String WAITED = "55P03";

    /** Statements that wait for an exclusive lock before PostgreSQL asks who owns the table. */
    private static final List<String> WAITING =
            List.of(
                    "CREATE RULE more AS ON INSERT TO %s DO ALSO NOTHING",
                    "CREATE OR REPLACE RULE more AS ON SELECT TO %s DO INSTEAD SELECT 1",
                    "CREATE TEMP TABLE more PARTITION OF %s DEFAULT",
                    "CREATE TEMP TABLE more\n/* ( */ PARTITION OF %s DEFAULT",
                    "--\rCREATE TEMP TABLE more PARTITION OF %s DEFAULT;\nCREATE TEMP TABLE x (a int)",
                    "ALTER TABLE pg_temp.parts ATTACH PARTITION %s DEFAULT",
                    "DO 'BEGIN CREATE TEMP TABLE more PARTITION OF %s DEFAULT; END'");

    private static final List<String> NOISE =
            List.of(
                    "--",
                    "\r",
                    "\n",
                    "\f",
                    "\t",
                    "/*",
                    "*/",
                    "/",
                    ";",
                    "(",
                    ")",
                    "'",
                    "\"",
                    "$$",
                    "E'\\'",
                    "\u0085",
                    "\u2028",
                    "\u00a0",
                    "CREATE TEMP TABLE y (",
                    "a int");

    /** Statements that wait beside a session that writes the table. */
    private static final List<String> WAITING_FOR_WRITERS =
            List.of(
                    "CREATE TEMP TABLE more (a text REFERENCES %s)",
                    "CREATE TEMP TABLE more () INHERITS (%s)");

    /** PostgreSQL's own table, with a view or table that reads it for everybody. */
    private static final Map<String, String> CATALOGUES =
            Map.of(
                    "pg_class", "pg_class",
                    "pg_authid", "pg_roles",
                    "pg_statistic", "pg_stats",
                    "pg_proc", "pg_proc");

    @AutoClose private static final World world = new World();

    @BeforeAll
    static void setUp() throws IOException {
        limit(world.database());
    }

    private static void limit(TestDatabase database) throws IOException {
        database.runAsSuperuser(Files.readString(Path.of("db", "limit-logins.sql")));
    }

    @ParameterizedTest
    @EnumSource(names = {"APP", "ADMIN", "TENANT_ADMIN", "AUDITOR", "CONSOLE"})
    void no_statement_waits_for_a_lock_on_a_catalogue(Who who) throws SQLException {
        List<String> wrong = new ArrayList<>();
        for (Map.Entry<String, String> catalogue : CATALOGUES.entrySet()) {
            for (String statement :
                    (Iterable<String>)
                            Stream.concat(WAITING.stream(), WAITING_FOR_WRITERS.stream())
                                    ::iterator) {
                String sql = statement.formatted("pg_catalog." + catalogue.getKey());
                String state = stateBesideReader(world.database(), who, catalogue.getValue(), sql);
                if (!REFUSED.equals(state)) {
                    wrong.add(state + " " + sql);
                }
            }
        }
        assertEquals(List.of(), wrong);
        assertEquals(200, mint().status());
    }

    /**
     * What the limits take for a comment, or for the list of columns, and PostgreSQL doesn't:
     * random text around two statements, of which the first would wait.
     */
    @Test
    void no_text_around_a_statement_hides_it() throws SQLException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (Connection reader = world.database().connect(Who.AUDITOR);
                Connection member = asPsql(world.database(), Who.AUDITOR);
                Statement reads = reader.createStatement();
                Statement statement = member.createStatement()) {
            statement.execute("SET lock_timeout = '100ms'");
            reader.setAutoCommit(false);
            reads.execute("SELECT FROM pg_catalog.pg_description LIMIT 1");
            for (int i = 0; i < 400; i++) {
                String sql =
                        noise(random)
                                + "CREATE TEMP TABLE more PARTITION OF pg_catalog.pg_description DEFAULT"
                                + noise(random)
                                + "CREATE TEMP TABLE x (a int)"
                                + noise(random);
                assertNotEquals(WAITED, state(statement, sql), () -> seed + ": " + sql);
                statement.execute("DROP TABLE IF EXISTS pg_temp.x");
            }
        }
    }

    private static String noise(Random random) {
        return random.ints(random.nextInt(5), 0, NOISE.size())
                .mapToObj(NOISE::get)
                .collect(Collectors.joining());
    }

    /** What the limits are for. On a table that no other database has. */
    @Test
    void without_the_limits_they_wait() throws SQLException {
        try (TestDatabase unlimited = TestDatabase.migrated()) {
            for (String statement : WAITING) {
                String sql = statement.formatted("pg_catalog.pg_description");
                assertEquals(
                        WAITED,
                        stateBesideReader(unlimited, Who.AUDITOR, "pg_description", sql),
                        sql);
            }
        }
    }

    /** Sends several statements in one text, as they are. */
    private static Connection asPsql(TestDatabase database, Who who) throws SQLException {
        return DriverManager.getConnection(
                database.url() + "?preferQueryMode=simple", who.login(), database.password());
    }

    private static String stateBesideReader(TestDatabase database, Who who, String read, String sql)
            throws SQLException {
        try (Connection reader = database.connect(Who.AUDITOR);
                Connection member = asPsql(database, who);
                Statement reads = reader.createStatement();
                Statement statement = member.createStatement()) {
            statement.execute("SET lock_timeout = '100ms'");
            if (!database.name().equals(world.database().name())) {
                statement.execute("CREATE TEMP TABLE parts (c text) PARTITION BY LIST (c)");
            }
            reader.setAutoCommit(false);
            reads.execute("SELECT FROM pg_catalog.%s LIMIT 1".formatted(read));
            return state(statement, sql);
        }
    }

    private static String state(Statement statement, String sql) {
        try {
            statement.execute(sql);
            return "00000";
        } catch (SQLException e) {
            return e.getSQLState();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"APP", "ADMIN", "TENANT_ADMIN", "AUDITOR", "CONSOLE"})
    void no_login_fills_the_lock_table_or_the_disk(Who who) throws SQLException {
        try (Connection member = world.database().connect(who);
                Statement statement = member.createStatement()) {
            for (String function :
                    List.of(
                            "pg_advisory_lock(1)",
                            "pg_advisory_lock_shared(1, 2)",
                            "pg_advisory_xact_lock(1)",
                            "pg_advisory_xact_lock_shared(1)",
                            "pg_try_advisory_lock(1)",
                            "pg_try_advisory_lock_shared(1)",
                            "pg_try_advisory_xact_lock(1)",
                            "pg_try_advisory_xact_lock_shared(1, 2)",
                            "lo_create(0)",
                            "lo_creat(-1)",
                            "lo_from_bytea(0, '')",
                            "pg_logical_emit_message(false, 'x', 'x')",
                            "pg_logical_emit_message(true, 'x', '\\x00'::bytea)")) {
                assertEquals(REFUSED, state(statement, "SELECT " + function), function);
            }
        }
    }

    /**
     * What each login may do with the limits too. A statement reaches a table of the log by its
     * number.
     */
    @Test
    void notifications_cursors_and_locks_on_views_of_postgresql_delay_no_mint()
            throws SQLException {
        try (Connection listener = world.database().connect(Who.AUDITOR);
                Connection member = world.database().connect(Who.AUDITOR);
                Statement listens = listener.createStatement();
                Statement statement = member.createStatement()) {
            listens.execute("LISTEN more");
            listener.setAutoCommit(false);
            listens.execute("SELECT");
            statement.execute(
                    "DO 'BEGIN PERFORM pg_notify(''more'', i || repeat(''x'', 7900)) FROM generate_series(1, 5000) AS i; END'");
            statement.execute("DECLARE kept CURSOR WITH HOLD FOR SELECT * FROM audit.event");
            assertNotEquals(
                    "00000",
                    state(
                            statement,
                            "SELECT brin_summarize_new_values(i.oid::regclass) FROM pg_class AS i WHERE i.relname = 'event_holds_each_step_of_a_mint_once'"));
            member.setAutoCommit(false);
            statement.execute("LOCK TABLE pg_catalog.pg_settings IN ACCESS EXCLUSIVE MODE");

            Latency.assertTakes(Duration.ofSeconds(1), () -> Latency.time(LimitedLoginsTest::mint));
            try (Database connected = new Database(world.database().login(Who.APP))) {
                assertTrue(new LoginCheck(connected).limits().limited());
            }
            member.rollback();
            listener.rollback();
        }
    }

    /** The tables of scripts for psql in docs and db/recipes. */
    @ParameterizedTest
    @EnumSource(names = {"ADMIN", "TENANT_ADMIN", "AUDITOR"})
    void people_s_scripts_go_on(Who who) throws SQLException {
        try (Connection member = world.database().connect(who);
                Statement statement = member.createStatement()) {
            for (String sql :
                    List.of(
                            "-- of a script; with a comment\nCREATE TEMPORARY TABLE wanted (\n    subject text NOT NULL DEFAULT 'x' CHECK (subject <> '') -- so\n);",
                            "CREATE TEMP VIEW seen AS SELECT subject FROM wanted",
                            "CREATE TEMP TABLE copied AS SELECT subject FROM seen",
                            "DROP TABLE copied")) {
                assertEquals("00000", state(statement, sql), sql);
            }
        }
    }

    @Test
    void the_service_creates_partitions_and_the_owner_migrates() throws IOException {
        world.database().run(Who.APP, "SELECT audit.create_partitions(9)");
        new Migrations(world.database().login(Who.OWNER), TestDatabase.ROLES, false).run();
        world.database().run(Who.OWNER, "SET ROLE mintmark_owner; CREATE TABLE work.more (c int)");
        world.database().run(Who.OWNER, "SET ROLE mintmark_owner; DROP TABLE work.more");
        limit(world.database());
        assertEquals(200, mint().status());
    }

    @Test
    void the_check_shows_whether_they_are_in_force() throws IOException {
        try (TestDatabase own = TestDatabase.migrated();
                Database connected = new Database(own.login(Who.APP))) {
            LoginCheck login = new LoginCheck(connected);
            assertFalse(login.limits().limited());
            limit(own);
            assertTrue(login.limits().limited());
            own.runAsSuperuser("ALTER EVENT TRIGGER mintmark_limits DISABLE");
            assertFalse(login.limits().limited());
            limit(own);
            own.runAsSuperuser("GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC");
            assertFalse(login.limits().limited());
            limit(own);
            own.runAsSuperuser(
                    """
                    DO $$
                    BEGIN
                        EXECUTE (SELECT format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', p.oid::regprocedure)
                                   FROM pg_proc AS p WHERE p.proname = 'pg_logical_emit_message' LIMIT 1);
                    END
                    $$
                    """);
            assertFalse(login.limits().limited());
            limit(own);
            assertTrue(login.limits().limited());
            assertEquals(
                    own.value("SELECT current_setting('max_prepared_transactions')"),
                    String.valueOf(login.limits().prepared()));
        }
    }

    private static Answer mint() {
        return world.broker().mint(world.token(), "api");
    }
}
