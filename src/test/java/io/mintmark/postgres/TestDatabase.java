package io.mintmark.postgres;

import io.mintmark.postgres.connection.DatabaseLogin;
import io.mintmark.postgres.connection.Roles;
import io.mintmark.postgres.migration.Migrations;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
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

    /** In the database that all tests know. */
    private static final long ROLES_LOCK = 4_711;

    /** Migrated once in this JVM. */
    private static final class Template {
        static final String NAME = create();

        private static String create() {
            String name = "mintmark_template_" + ProcessHandle.current().pid();
            execute("postgres", "CREATE DATABASE " + name);
            prepare(name);
            new Migrations(login(name, Who.OWNER), ROLES, false).run();
            return name;
        }
    }

    private final String name;
    private final Deque<AutoCloseable> users = new ArrayDeque<>();

    private TestDatabase(String name) {
        this.name = name;
    }

    /** A database with the schema and nothing in it. */
    public static TestDatabase migrated() {
        TestDatabase database = new TestDatabase(nextName());
        copy(Template.NAME, database);
        return database;
    }

    /** What this one would be restored to later on. Nobody may be connected. */
    public TestDatabase copy() {
        TestDatabase copy = new TestDatabase(nextName());
        copy(name, copy);
        return copy;
    }

    /** Of files, which takes half as long as through the write-ahead log. */
    private static void copy(String template, TestDatabase database) {
        execute(
                "postgres",
                "CREATE DATABASE %s TEMPLATE %s STRATEGY file_copy"
                        .formatted(database.name, template));
    }

    /** A database with the roles, and no schema yet. */
    public static TestDatabase unmigrated() {
        TestDatabase database = new TestDatabase(nextName());
        execute("postgres", "CREATE DATABASE " + database.name);
        prepare(database.name);
        return database;
    }

    /** Roles are the whole server's, which tests of other processes may prepare at that moment. */
    private static void prepare(String database) {
        try (Connection alone = superuser("postgres");
                Statement statement = alone.createStatement()) {
            statement.execute("SELECT pg_advisory_lock(%d)".formatted(ROLES_LOCK));
            execute(database, rolesScript());
            for (Who who : Who.values()) {
                execute(database, loginScript(who));
            }
        } catch (SQLException e) {
            throw new IllegalStateException("the roles can't be made", e);
        }
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

    /** A connection as one of the roles. */
    public Connection connect(Who who) throws SQLException {
        return DriverManager.getConnection(url(), who.login, PASSWORD);
    }

    /** Runs statements as one of the roles. */
    public void run(Who who, String sql) {
        try (Connection connection = connect(who);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** Runs statements as the superuser. */
    public void runAsSuperuser(String sql) {
        execute(name, sql);
    }

    /** Changes rows of a table of {@code broker}, also their {@code created_at}, on record. */
    public void rewrite(String table, String set) {
        runAsSuperuser(
                """
                ALTER TABLE broker.%1$s DISABLE TRIGGER is_signed;
                UPDATE broker.%1$s SET %2$s;
                ALTER TABLE broker.%1$s ENABLE ALWAYS TRIGGER is_signed;
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
        try (Connection connection = connect(who);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(String.valueOf(rows.getString(1)));
            }
            return values;
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** Returns what uses the database, and closes it before the database is dropped. */
    public <T extends AutoCloseable> T closing(T user) {
        users.push(user);
        return user;
    }

    @Override
    public void close() {
        users.forEach(TestDatabase::closed);
        execute("postgres", "DROP DATABASE IF EXISTS %s WITH (FORCE)".formatted(name));
    }

    private static void closed(AutoCloseable user) {
        try {
            user.close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void execute(String database, String sql) {
        try (Connection connection = superuser(database);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private static Connection superuser(String database) throws SQLException {
        TestServer.Address server = TestServer.address();
        return DriverManager.getConnection(
                server.url(database), server.superuser(), server.password());
    }

    private static String rolesScript() {
        try {
            return Files.readString(Path.of("db", "roles.sql"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String loginScript(Who who) {
        return """
        DO $$ BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%1$s') THEN
                CREATE ROLE %1$s LOGIN PASSWORD '%2$s' IN ROLE %3$s;
            END IF;
        END $$
        """
                .formatted(who.login, PASSWORD, who.role);
    }
}
