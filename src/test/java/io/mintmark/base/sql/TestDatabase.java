package io.mintmark.base.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.Unchecked;
import io.mintmark.base.schema.Migrations;
import io.mintmark.endtoend.Eventually;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A database of a test's own, with the whole schema and a login for each role. It is copied from
 * one that was migrated once, so it costs a fraction of a second.
 */
public final class TestDatabase implements AutoCloseable {
    /** A login that is a member of one group role. */
    public enum Who {
        OWNER("test_owner", "mintmark_owner"),
        APP("test_app", "mintmark_app"),
        ADMIN("test_admin", "mintmark_admin"),
        TENANT_ADMIN("test_tenant_admin", "mintmark_tenant_admin"),
        AUDITOR("test_auditor", "mintmark_auditor"),
        CONSOLE("test_console", "mintmark_console");

        private final String login;
        private final String role;

        Who(String login, String role) {
            this.login = login;
            this.role = role;
        }

        public String login() {
            return login;
        }

        public String role() {
            return role;
        }
    }

    /** Of every login. */
    public static final String PASSWORD = "for-tests";

    /** The names of the group roles. */
    public static final Roles ROLES =
            new Roles(
                    Who.OWNER.role,
                    Who.APP.role,
                    Who.ADMIN.role,
                    Who.TENANT_ADMIN.role,
                    Who.AUDITOR.role,
                    Who.CONSOLE.role);

    private static final AtomicInteger COUNT = new AtomicInteger();

    /** By the scripts that they hold. */
    private static final Map<List<String>, TestDatabase> FILLED = new ConcurrentHashMap<>();

    /** Migrated once in this JVM. */
    private static final class Template {
        static final String NAME = create();

        private static String create() {
            String name = "mintmark_template_" + ProcessHandle.current().pid();
            onServer("CREATE DATABASE " + name);
            TestRoles.create(name);
            new Migrations(login(name, Who.OWNER), ROLES, false).run();
            // so that tests may write rows of some minutes ago on the first day of a month
            TestDatabase template = new TestDatabase(name);
            template.run(
                    Who.OWNER,
                    "SET ROLE %s; SELECT audit.create_partition((now() - interval '1 month')::date)"
                            .formatted(Who.OWNER.role));
            template.endIdle();
            return name;
        }
    }

    /** In the database that everybody knows. */
    private static final class Server {
        static final KeptSessions SESSIONS = new KeptSessions(TestServer.address().url("postgres"));
    }

    private final String name;
    private final KeptSessions sessions;
    private final Deque<AutoCloseable> users = new ArrayDeque<>();

    private TestDatabase(String name) {
        this.name = name;
        this.sessions = new KeptSessions(TestServer.address().url(name));
    }

    /** A database with the schema and nothing in it. */
    public static TestDatabase migrated() {
        TestDatabase database = new TestDatabase(nextName());
        copy(Template.NAME, database);
        return database;
    }

    /**
     * A database that an admin wrote these scripts into. That happened once in this JVM, and what
     * is returned is a copy: for classes that need one for each case.
     */
    public static TestDatabase filled(String... scripts) {
        return FILLED.computeIfAbsent(List.of(scripts), TestDatabase::fill).copy();
    }

    private static TestDatabase fill(List<String> scripts) {
        TestDatabase database = migrated();
        scripts.forEach(database::admin);
        return database;
    }

    /** What this one would be restored to later on. Nobody may be connected. */
    public TestDatabase copy() {
        endIdle();
        TestDatabase copy = new TestDatabase(nextName());
        copy(name, copy);
        return copy;
    }

    /** The same while others are connected, who lose their connections. */
    public TestDatabase copyUnderneath() {
        TestDatabase copy = new TestDatabase(nextName());
        alone(() -> copy(name, copy));
        return copy;
    }

    /** Puts another database in this one's place, under whoever uses it; both can be closed. */
    public void replaceBy(TestDatabase other) {
        other.endIdle();
        String away = nextName();
        alone(() -> {
            onServer("ALTER DATABASE %s RENAME TO %s".formatted(name, away));
            onServer("ALTER DATABASE %s RENAME TO %s".formatted(other.name, name));
        });
        onServer("ALTER DATABASE %s RENAME TO %s".formatted(away, other.name));
        onServer("ALTER DATABASE %s ALLOW_CONNECTIONS true".formatted(other.name));
    }

    /** Ends all connections, and lets none in meanwhile. */
    private void alone(Runnable work) {
        endIdle();
        onServer("ALTER DATABASE %s ALLOW_CONNECTIONS false".formatted(name));
        endSessions("true");
        work.run();
        onServer("ALTER DATABASE %s ALLOW_CONNECTIONS true".formatted(name));
    }

    /** Ends the service's sessions, and lets it in no more. */
    public void shutTheServiceOut() {
        onServer("ALTER DATABASE %s CONNECTION LIMIT 0".formatted(name));
        endSessions("usename = '%s'".formatted(Who.APP.login));
    }

    /** Lets the service in again. */
    public void letTheServiceIn() {
        onServer("ALTER DATABASE %s CONNECTION LIMIT -1".formatted(name));
    }

    /** Ends sessions, also those that were let in before and are still starting. */
    private void endSessions(String which) {
        Eventually.holds(() -> !hasStartingSessions());
        onServer(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '%s' AND %s"
                        .formatted(name, which));
    }

    /** Whether a session is starting, which isn't in {@code pg_stat_activity} until it has. */
    boolean hasStartingSessions() {
        String starting =
                """
                SELECT l.pid FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.objid
                 WHERE l.classid = 'pg_database'::regclass AND d.datname = '%s'
                """
                        .formatted(name);
        TestServer.Address server = TestServer.address();
        return !column(Server.SESSIONS, server.superuser(), server.password(), starting).isEmpty();
    }

    /** Of files, which takes half as long as through the write-ahead log. */
    private static void copy(String template, TestDatabase database) {
        onServer(
                "CREATE DATABASE %s TEMPLATE %s STRATEGY file_copy"
                        .formatted(database.name, template));
    }

    /** A database with the roles, and no schema yet. */
    public static TestDatabase unmigrated() {
        TestDatabase database = new TestDatabase(nextName());
        onServer("CREATE DATABASE " + database.name);
        TestRoles.create(database.name);
        return database;
    }

    private static String nextName() {
        return "mintmark_test_%d_%d"
                .formatted(ProcessHandle.current().pid(), COUNT.incrementAndGet());
    }

    /** Where it is, for JDBC. */
    public String url() {
        return TestServer.address().url(name);
    }

    public String name() {
        return name;
    }

    /** The password of every login. */
    public String password() {
        return PASSWORD;
    }

    /** How one of the roles logs in. */
    public DatabaseLogin login(Who who) {
        return login(name, who);
    }

    private static DatabaseLogin login(String database, Who who) {
        return new DatabaseLogin(
                TestServer.address().url(database), who.login, () -> Optional.of(PASSWORD));
    }

    /**
     * The service's connections, for what isn't about their timeouts: on a busy machine a login
     * takes longer than the second that the service waits for one.
     */
    public Database pool() {
        return pool(login(Who.APP));
    }

    /** A console's connections, which are as patient. */
    public static ReadOnlyDatabase patient(DatabaseLogin login, int size) {
        return new ReadOnlyDatabase(
                login, "console", size, Eventually.PATIENCE, Eventually.PATIENCE);
    }

    static Database pool(DatabaseLogin login) {
        return new Database(login, 3, Eventually.PATIENCE);
    }

    /** A connection as one of the roles. */
    public Connection connect(Who who) throws SQLException {
        return sessions.open(who.login, PASSWORD);
    }

    /** Runs statements as one of the roles, in a transaction that is rolled back. */
    public <T> T rolledBack(Who who, KeptSessions.Use<T> use) throws SQLException {
        return sessions.rolledBack(who.login, PASSWORD, use);
    }

    /** Runs statements as one of the roles. */
    public void run(Who who, String sql) {
        execute(sessions, who.login, PASSWORD, sql);
    }

    /** Runs statements as an admin of the whole broker. */
    public void admin(String sql) {
        run(Who.ADMIN, sql);
    }

    /** Runs statements as the superuser. */
    public void runAsSuperuser(String sql) {
        execute(sessions, sql);
    }

    /** Changes rows of a table of {@code broker}, also their {@code created_at}, on record. */
    public void rewrite(String table, String set) {
        runAsSuperuser(
                """
                ALTER TABLE broker.%1$s DISABLE TRIGGER check_%1$s;
                UPDATE broker.%1$s SET %2$s;
                ALTER TABLE broker.%1$s ENABLE ALWAYS TRIGGER check_%1$s;
                """
                        .formatted(table, set));
    }

    /** Removes rows of the audit log past its triggers, as the server's owner could. */
    public void removeEvents(String where) {
        alterLog("DELETE FROM audit.event WHERE " + where);
    }

    /** Runs a statement past the triggers of the log, which are on again afterwards. */
    public void alterLog(String sql) {
        runAsSuperuser(
                """
                DO $$
                DECLARE
                    armed regclass;
                BEGIN
                    FOR armed IN SELECT tgrelid FROM pg_trigger WHERE tgname = 'is_append_only' LOOP
                        EXECUTE format('ALTER TABLE %%s DISABLE TRIGGER is_append_only', armed);
                    END LOOP;
                    SET LOCAL session_replication_role = replica;
                    %s;
                    SET LOCAL session_replication_role = origin;
                    FOR armed IN SELECT tgrelid FROM pg_trigger WHERE tgname = 'is_append_only' LOOP
                        EXECUTE format('ALTER TABLE %%s ENABLE ALWAYS TRIGGER is_append_only', armed);
                    END LOOP;
                END $$
                """
                        .formatted(sql));
    }

    /** The first column of a query, as text, run by an auditor. */
    public List<String> column(String sql) {
        return column(Who.AUDITOR, sql);
    }

    /** The first column of a query, as text. */
    public List<String> column(Who who, String sql) {
        return column(sessions, who.login, PASSWORD, sql);
    }

    private static List<String> column(
            KeptSessions sessions, String user, String password, String sql) {
        try {
            return sessions.use(user, password, sql, session -> SqlRunner.column(session, sql));
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** The first column of a query's only row, as text, run by an auditor. */
    public String value(String sql) {
        return SqlRunner.only(sql, column(sql));
    }

    /** The first column of a query's rows, as text, run by an auditor, must be this. */
    public void assertRows(String sql, String... expected) {
        assertEquals(List.of(expected), column(sql), sql);
    }

    /** The same, run by one of the roles. */
    public void assertRows(Who who, String sql, String... expected) {
        assertEquals(List.of(expected), column(who, sql), sql);
    }

    /** Returns what uses the database, and closes it before the database is dropped. */
    public <T extends AutoCloseable> T closing(T user) {
        users.push(user);
        return user;
    }

    @Override
    public void close() {
        users.forEach(TestDatabase::closed);
        endIdle();
        onServer("DROP DATABASE IF EXISTS %s WITH (FORCE)".formatted(name));
    }

    private void endIdle() {
        closed(sessions);
    }

    private static void closed(AutoCloseable user) {
        Unchecked.run(user::close);
    }

    private static void onServer(String sql) {
        execute(Server.SESSIONS, sql);
    }

    private static void execute(KeptSessions sessions, String sql) {
        TestServer.Address server = TestServer.address();
        execute(sessions, server.superuser(), server.password(), sql);
    }

    private static void execute(KeptSessions sessions, String user, String password, String sql) {
        try {
            var _ = sessions.use(user, password, sql, session -> execute(session, sql));
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private static boolean execute(Connection session, String sql) throws SQLException {
        try (Statement statement = session.createStatement()) {
            return statement.execute(sql);
        }
    }
}
