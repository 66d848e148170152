package io.mintmark.provider.postgresql;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.SqlRunner;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.LeaseRevocation;
import io.mintmark.provider.LeaseRevocation.Disarmed;
import io.mintmark.provider.LeaseRevocation.Gone;
import io.mintmark.provider.LeaseRevocation.Stuck;
import io.mintmark.provider.Orders;
import io.mintmark.provider.postgresql.Target.Login;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Logins that don't want to end. */
class PostgresLeasesTest {
    private static final String ROLE = "{'role': 'app_rw'}";
    private static final TargetServer SERVER = TargetServer.shared(TargetServer.NEWEST);

    @TempDir Path secrets;
    private Target target;

    @BeforeEach
    void connect() {
        target = new Target(SERVER.port(), secrets);
    }

    @AfterEach
    void clean() {
        SERVER.clean();
    }

    private static String state(Login login) {
        return String.join(
                " ",
                SERVER.column(
                        """
                        SELECT format('login=%%s password=%%s groups=%%s', rolcanlogin, rolpassword IS NOT NULL,
                                      (SELECT count(*) FROM pg_auth_members WHERE member = a.oid))
                          FROM pg_authid AS a WHERE rolname = '%s'
                        """
                                .formatted(login.name())));
    }

    private static void assertDisarmed(Login login, LeaseRevocation ended) throws Exception {
        String detail = assertInstanceOf(Disarmed.class, ended, ended::toString).detail();
        assertTrue(
                detail.contains("DROP OWNED BY " + login.name() + ";")
                        && detail.contains("DROP ROLE " + login.name() + ";"),
                detail);
        assertEquals("login=f password=f groups=0", state(login));
        assertThrows(SQLException.class, login::connect);
        assertEquals(List.of(), membersOf(login), "the broker has no rights of it");
    }

    /** Who has the login's rights, but for the right to administer it. */
    private static List<String> membersOf(Login login) {
        return SERVER.column(
                "SELECT member::regrole FROM pg_auth_members WHERE roleid = '%s'::regrole AND (inherit_option OR set_option)"
                        .formatted(login.name()));
    }

    @Test
    void a_table_stays_with_its_owner_that_can_do_nothing() throws Exception {
        Login login = target.login();
        login.run("CREATE TABLE scratch.kept (id int)");

        LeaseRevocation ended = target.end();

        assertDisarmed(login, ended);
        assertTrue(ended.detail().contains("owner of table scratch.kept"), ended.detail());
        assertEquals(ended, target.end(), "asked again");
    }

    /** The server's answer to DROP ROLE names a hundred of them, and is longer than 64 KiB. */
    @Test
    void functions_with_long_names_stay_too() throws Exception {
        Login login = target.login();
        String type = "t".repeat(60);
        login.run(
                """
                CREATE TYPE scratch.%1$s AS (id int);
                DO $$ BEGIN
                    FOR i IN 1..120 LOOP
                        EXECUTE format('CREATE FUNCTION scratch.f%%s(%%s) RETURNS int LANGUAGE sql AS ''SELECT 1''',
                                       i, (SELECT string_agg('scratch.%1$s', ',') FROM generate_series(1, 90)));
                    END LOOP;
                END $$
                """
                        .formatted(type));

        LeaseRevocation ended = target.end();

        assertDisarmed(login, ended);
        assertTrue(ended.detail().length() < 2_000, ended.detail());
    }

    @Test
    void a_function_with_the_rights_of_its_owner_gives_a_stranger_nothing() throws Exception {
        SERVER.run(
                "CREATE ROLE stranger LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA scratch TO PUBLIC");
        try {
            Login login = target.login();
            login.run(
                    """
                    CREATE FUNCTION scratch.leak() RETURNS SETOF int LANGUAGE sql SECURITY DEFINER
                        AS 'SELECT id FROM public.orders';
                    GRANT EXECUTE ON FUNCTION scratch.leak() TO PUBLIC
                    """);
            String ask = "SELECT * FROM scratch.leak()";
            try (Connection stranger = SERVER.connect("stranger", "x", "postgres")) {
                assertEquals(List.of("42"), SqlRunner.column(stranger, ask));

                assertDisarmed(login, target.end());

                assertEquals(
                        "42501",
                        assertThrows(SQLException.class, () -> SqlRunner.column(stranger, ask))
                                .getSQLState());
            }
        } finally {
            SERVER.run("DROP ROLE stranger");
        }
    }

    @Test
    void default_privileges_and_objects_in_another_database_disarm() throws Exception {
        SERVER.run("CREATE DATABASE other");
        try {
            SERVER.run("GRANT CREATE ON DATABASE other TO app_rw");
            Login login = target.login();
            login.run("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC");
            try (Connection there = login.connect("other");
                    Statement statement = there.createStatement()) {
                statement.execute("CREATE SCHEMA mine");
            }

            LeaseRevocation ended = target.end();

            assertDisarmed(login, ended);
            assertTrue(ended.detail().contains("1 object in database other"), ended.detail());
        } finally {
            SERVER.run("DROP DATABASE other WITH (FORCE)");
        }
    }

    @Test
    void what_is_left_is_dropped_in_all_databases_of_the_key() throws Exception {
        SERVER.run("CREATE DATABASE reports");
        try {
            SERVER.run("GRANT CREATE ON DATABASE reports TO app_rw");
            Login login =
                    target.login(
                            "{'role': 'app_rw', 'leftovers': 'drop', 'databases': ['reports']}");
            login.run("CREATE TABLE scratch.gone (id int)");
            try (Connection there = login.connect("reports");
                    Statement statement = there.createStatement()) {
                statement.execute("CREATE SCHEMA mine");
            }

            assertEquals(
                    new Gone("role %s was dropped, with its objects".formatted(login.name())),
                    target.end());

            SERVER.assertRows("SELECT 1 FROM pg_class WHERE relname = 'gone'");
        } finally {
            SERVER.run("DROP DATABASE reports WITH (FORCE)");
        }
    }

    @Test
    void what_is_left_is_given_to_the_role_and_the_broker_keeps_no_right_of_it() throws Exception {
        Login login = target.login("{'role': 'app_rw', 'leftovers': 'give'}");
        login.run("CREATE TABLE scratch.given (id int)");
        login.run("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC");
        try {
            assertInstanceOf(Gone.class, target.end());

            SERVER.assertRows(
                    "SELECT tableowner FROM pg_tables WHERE tablename = 'given'", "app_rw");
            SERVER.assertRows(
                    "SELECT 1 FROM pg_auth_members WHERE member = 'mintmark'::regrole"
                            + " AND roleid = 'app_rw'::regrole AND (inherit_option OR set_option)");
        } finally {
            SERVER.run("DROP TABLE scratch.given");
        }
    }

    @Test
    void functions_schemas_and_large_objects_are_given_too() throws Exception {
        SERVER.run("GRANT CREATE ON SCHEMA scratch TO app_rw");
        Login login = target.login("{'role': 'app_rw', 'leftovers': 'give'}");
        login.run("CREATE FUNCTION scratch.given() RETURNS int LANGUAGE sql AS 'SELECT 1'");
        login.run("SELECT lo_create(4711)");
        try {
            assertInstanceOf(Gone.class, target.end());

            SERVER.assertRows(
                    "SELECT proowner::regrole::text FROM pg_proc WHERE proname = 'given'",
                    "app_rw");
            SERVER.assertRows(
                    "SELECT lomowner::regrole::text FROM pg_largeobject_metadata WHERE oid = 4711",
                    "app_rw");
            SERVER.assertRows(
                    "SELECT 1 FROM pg_auth_members WHERE member = 'mintmark'::regrole"
                            + " AND roleid = 'app_rw'::regrole AND (inherit_option OR set_option)");
        } finally {
            SERVER.run("DROP FUNCTION scratch.given(); SELECT lo_unlink(4711)");
        }
    }

    @Test
    void what_is_left_in_the_clients_database_is_dropped_without_naming_it_in_the_key()
            throws Exception {
        SERVER.run("CREATE DATABASE shop");
        try {
            SERVER.run("GRANT CREATE ON DATABASE shop TO app_rw");
            Login login =
                    target.login(
                            Orders.of(
                                    "postgresql",
                                    target.settings()
                                            .replace(
                                                    "{'host'",
                                                    "{'client_database': 'shop', 'host'"),
                                    "{'role': 'app_rw', 'leftovers': 'drop'}"));
            try (Connection there = login.connect("shop");
                    Statement statement = there.createStatement()) {
                statement.execute("CREATE SCHEMA mine");
            }

            assertInstanceOf(Gone.class, target.end());
        } finally {
            SERVER.run("DROP DATABASE shop WITH (FORCE)");
        }
    }

    /** A pooler's name for a database, or one that was dropped meanwhile. */
    @Test
    void a_database_that_the_server_does_not_have_keeps_nothing() throws Exception {
        Login login =
                target.login(
                        Orders.of(
                                "postgresql",
                                target.settings()
                                        .replace("{'host'", "{'client_database': 'pooled', 'host'"),
                                "{'role': 'app_rw', 'leftovers': 'drop', 'databases': ['nowhere']}"));
        try (Connection there = login.connect("postgres");
                Statement statement = there.createStatement()) {
            statement.execute("CREATE TABLE scratch.pooled (id int)");
        }

        assertInstanceOf(Gone.class, target.end());
    }

    @Test
    void what_cant_be_dropped_stays_with_its_owner() throws Exception {
        Login login = target.login("{'role': 'app_rw', 'leftovers': 'drop'}");
        login.run("CREATE TABLE scratch.used (id int)");
        SERVER.run("CREATE VIEW public.of_others AS SELECT * FROM scratch.used");

        assertDisarmed(login, target.end());

        SERVER.assertRows("SELECT count(*) FROM public.of_others", "0");
    }

    @Test
    void what_somebody_else_locks_is_dropped_later() throws Exception {
        Login login = target.login("{'role': 'app_rw', 'leftovers': 'drop'}");
        login.run("CREATE TABLE scratch.read_now (id int)");
        SERVER.run(
                "CREATE ROLE reader LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA scratch TO reader;"
                        + " GRANT SELECT ON scratch.read_now TO reader");
        try (Connection reader = SERVER.connect("reader", "x", "postgres");
                Statement statement = reader.createStatement()) {
            reader.setAutoCommit(false);
            statement.execute("SELECT FROM scratch.read_now");

            assertInstanceOf(Stuck.class, target.end());

            assertEquals("login=f password=f groups=0", state(login));
            reader.rollback();
            assertInstanceOf(Gone.class, target.end());
        } finally {
            SERVER.run("DROP OWNED BY reader; DROP ROLE reader");
        }
    }

    /** It changes its own password and doesn't commit, which locks its row. */
    @Test
    void a_session_that_locks_its_own_role_is_ended() throws Exception {
        Login login = target.login();
        try (Connection session = login.connect();
                Statement statement = session.createStatement()) {
            session.setAutoCommit(false);
            statement.execute("ALTER ROLE %s PASSWORD 'mine'".formatted(login.name()));

            assertInstanceOf(Gone.class, target.end());
        }
    }

    /** Another login names it in a grant and doesn't commit. */
    @Test
    void a_session_of_another_that_holds_a_role_only_delays_its_removal() throws Exception {
        Login login = target.login();
        SERVER.run(
                "CREATE ROLE holder LOGIN PASSWORD 'x'; GRANT CREATE, USAGE ON SCHEMA scratch TO"
                        + " holder");
        try (Connection holder = SERVER.connect("holder", "x", "postgres");
                Statement statement = holder.createStatement()) {
            statement.execute("CREATE TABLE scratch.held (id int)");
            holder.setAutoCommit(false);
            statement.execute("GRANT SELECT ON scratch.held TO " + login.name());

            Stuck delayed = assertInstanceOf(Stuck.class, target.end());

            assertEquals(Reason.PROVIDER_TIMEOUT, delayed.reason());
            assertEquals("login=f password=f groups=0", state(login));
            holder.rollback();
            assertInstanceOf(Gone.class, target.end());
        } finally {
            SERVER.run("DROP OWNED BY holder; DROP ROLE holder");
        }
    }

    @Test
    void a_membership_that_another_granted_is_not_passed_over() throws Exception {
        Login login = target.login();
        login.run("CREATE TABLE scratch.kept (id int)");
        SERVER.run("CREATE ROLE more; GRANT more TO " + login.name());
        try {
            Stuck ended = assertInstanceOf(Stuck.class, target.end());

            assertEquals(Reason.PROVIDER_REJECTED, ended.reason());
            assertTrue(ended.detail().contains("still a member of more"), ended.detail());
        } finally {
            SERVER.run("DROP ROLE more");
        }
        assertDisarmed(login, target.end());
    }

    @Test
    void two_replicas_may_end_the_same_login_at_once() throws Exception {
        for (int round = 0; round < 5; round++) {
            Login login = target.login();
            try (Connection session = login.connect();
                    var replicas = Executors.newVirtualThreadPerTaskExecutor()) {
                Callable<LeaseRevocation> end = target::end;
                List<Future<LeaseRevocation>> both =
                        replicas.invokeAll(List.of(end, end, end, end));

                assertAll(
                        both.stream()
                                .map(each ->
                                        () ->
                                                assertInstanceOf(
                                                        Gone.class,
                                                        each.get(),
                                                        each.get()::toString)));
                assertFalse(session.isValid(1));
            }
        }
    }

    /** Names of the client's choice get into the audit log, and never into a statement. */
    @Test
    void names_of_objects_are_only_words() throws Exception {
        Login login = target.login("{'role': 'app_rw', 'leftovers': 'drop'}");
        login.run("CREATE TABLE scratch.\"a\"\"; DROP ROLE app_rw; --\n\u202e\" (id int)");
        SERVER.run(
                "CREATE VIEW public.of_others AS SELECT * FROM scratch.\"a\"\"; DROP ROLE app_rw;"
                        + " --\n"
                        + "\u202e\"");

        LeaseRevocation ended = target.end();

        assertDisarmed(login, ended);
        assertTrue(
                ended.detail().chars().noneMatch(c -> c == '\n' || c == '\u202e'), ended.detail());
        SERVER.assertRows("SELECT count(*) FROM pg_roles WHERE rolname = 'app_rw'", "1");
    }

    @Test
    void a_login_in_its_time_is_not_left_behind() throws Exception {
        target.login(ROLE);

        assertEquals(List.of(), target.leftBehind());
    }

    @Test
    void a_shell_is_not_left_behind_until_it_can_log_in_again() throws Exception {
        Login login = target.login(ROLE);
        login.run("CREATE TABLE scratch.kept (id int)");
        SERVER.run("ALTER ROLE %s VALID UNTIL '2020-01-01'".formatted(login.name()));
        assertEquals(1, target.leftBehind().size());
        assertDisarmed(login, target.end());
        assertEquals(List.of(), target.leftBehind());

        SERVER.run("ALTER ROLE %s LOGIN".formatted(login.name()));

        assertEquals(1, target.leftBehind().size());
    }
}
