package io.mintmark.development;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.Backdated;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.EmbeddedServer;
import io.mintmark.base.sql.StoredGrants;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Optional;

/** A PostgreSQL server whose data directory is kept, with the roles and a login for each job. */
final class DemoDatabase implements AutoCloseable {
    private static final String PASSWORD = "mintmark";
    private static final String LOGINS =
            """
            DO $$ BEGIN
                IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'broker') THEN
                    CREATE ROLE broker LOGIN PASSWORD 'mintmark' IN ROLE mintmark_app;
                    CREATE ROLE migrator LOGIN PASSWORD 'mintmark' IN ROLE mintmark_owner;
                    CREATE ROLE alice LOGIN PASSWORD 'mintmark' IN ROLE mintmark_admin;
                    CREATE ROLE audrey LOGIN PASSWORD 'mintmark' IN ROLE mintmark_auditor;
                END IF;
                IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'viewer') THEN
                    CREATE ROLE viewer LOGIN PASSWORD 'mintmark' IN ROLE mintmark_console;
                END IF;
                IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'ben') THEN
                    CREATE ROLE ben LOGIN PASSWORD 'mintmark' IN ROLE mintmark_admin;
                END IF;
                IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'lea') THEN
                    CREATE ROLE lea LOGIN PASSWORD 'mintmark' IN ROLE mintmark_tenant_admin;
                END IF;
            END $$
            """;

    /** A grant that ends soon, and a subject that may not have anything any more. */
    private static final String BY_A_SECOND_ADMIN =
            """
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until, reason)
            SELECT 'demo', 'demo-idp', 'contractor:nora', 'demo-bucket', now() + interval '5 days', 'OPS-31: moves the archive'
             WHERE NOT EXISTS (SELECT FROM broker.subject_grant WHERE subject = 'contractor:nora');
            INSERT INTO broker.blocked_subject (tenant, subject, reason)
            SELECT 'demo', 'ci:stolen', 'SEC-9: the runner''s token was found in a log'
             WHERE NOT EXISTS (SELECT FROM broker.blocked_subject WHERE subject = 'ci:stolen')
            """;

    private static final String MONTH_BEFORE =
            """
            SELECT audit.create_partition((now() - days * interval '1 day')::date) FROM generate_series(1, 31) AS days
            """;

    private final EmbeddedPostgres server;

    private DemoDatabase(EmbeddedPostgres server) {
        this.server = server;
    }

    /**
     * Starts it, and sees to it that it ends with this process.
     *
     * @param port to listen on; 0: a free one
     */
    static DemoDatabase start(Path directory, int port) throws IOException {
        EmbeddedPostgres.Builder builder =
                EmbeddedServer.builder()
                        .setCleanDataDirectory(false)
                        .setServerConfig("fsync", "on");
        Files.createDirectories(directory);
        DemoDatabase database =
                new DemoDatabase(
                        port == 0
                                ? EmbeddedServer.start(builder, directory)
                                : EmbeddedServer.start(builder, directory, port));
        Lifeline.stopWithThisProcess(pidFile(directory), server(directory).orElseThrow().pid());
        database.run("postgres", "postgres", Files.readString(Path.of("db", "roles.sql")));
        database.run("postgres", "postgres", LOGINS);
        return database;
    }

    private static Path pidFile(Path directory) {
        return directory.resolve("postmaster.pid");
    }

    /** The server that runs on a data directory, if there is one. */
    static Optional<ProcessHandle> server(Path directory) throws IOException {
        return Files.exists(pidFile(directory))
                ? ProcessHandle.of(
                                Long.parseLong(
                                        Files.readAllLines(pidFile(directory)).getFirst().strip()))
                        .filter(process -> process.info().command().orElse("").contains("postgres"))
                : Optional.empty();
    }

    /** Stops a server that outlived its program and still holds the directory and the port. */
    static void stopWhatIsLeft(Path directory) throws IOException {
        Optional<ProcessHandle> left = server(directory);
        if (left.isPresent()) {
            Lifeline.stop(left.get());
        }
        Files.deleteIfExists(pidFile(directory));
    }

    /** How the broker logs in. */
    Map<String, String> settings() {
        return Map.of(
                "DATABASE_URL",
                url(),
                "DATABASE_USERNAME",
                "broker",
                "DATABASE_PASSWORD",
                PASSWORD,
                "DATABASE_OWNER_USERNAME",
                "migrator",
                "DATABASE_OWNER_PASSWORD",
                PASSWORD);
    }

    /** How the console logs in. */
    Map<String, String> settingsOfConsole() {
        return Map.of(
                "DATABASE_URL",
                url(),
                "DATABASE_USERNAME",
                "viewer",
                "DATABASE_PASSWORD",
                PASSWORD);
    }

    int port() {
        return server.getPort();
    }

    private String url() {
        return "jdbc:postgresql://localhost:%d/postgres".formatted(server.getPort());
    }

    /**
     * Makes the demo tenant, as two admins would, before its first mints; does nothing the second
     * time.
     */
    void setUp(String issuer, String storage) {
        try {
            String sql = Files.readString(Path.of("src", "test", "resources", "demo-tenant.sql"));
            run("alice", PASSWORD, sql.replace("ISSUER", issuer).replace("STORAGE", storage));
            run("ben", PASSWORD, BY_A_SECOND_ADMIN);
            if (count("audit.checkpoint") == 0) {
                run("postgres", "postgres", Backdated.configuration(DemoHistory.BEFORE));
                run("migrator", PASSWORD, MONTH_BEFORE);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** How the broker's own writer logs in. */
    DatabaseLogin writer() {
        return new DatabaseLogin(url(), "broker", () -> Optional.of(PASSWORD));
    }

    /** The grant of the demo API, as the log names it. */
    DemoHistory.DemoGrant grant() {
        String sql =
                """
                SELECT g.id, g.key FROM broker.subject_grant AS g
                 WHERE g.tenant = 'demo' AND g.key = 'demo-api'
                 ORDER BY g.id LIMIT 1
                """;
        try (Connection connection = DriverManager.getConnection(url(), "audrey", PASSWORD);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return new DemoHistory.DemoGrant(
                    row.getString("key"), StoredGrants.reference(connection, row.getLong("id")));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** How many mints and refusals are on record. */
    long events() {
        return count("audit.event");
    }

    private long count(String table) {
        try (Connection connection = DriverManager.getConnection(url(), "audrey", PASSWORD);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM " + table)) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The latest rows of the audit log as an auditor sees them, one a line. */
    String latestEvents() {
        String sql =
                """
                SELECT concat_ws('  ', to_char(occurred_at, 'HH24:MI:SS.MS'), mint_id,
                                 rpad(kind, 9), tenant, subject, key, 'grant ' || grant_id, reason,
                                 'credential ' || left(credential_id, 16) || '…',
                                 'until ' || to_char(expires_at, 'HH24:MI:SS'))
                  FROM audit.event
                 ORDER BY mint_id DESC, step DESC
                 LIMIT 10
                """;
        StringBuilder lines = new StringBuilder();
        try (Connection connection = DriverManager.getConnection(url(), "audrey", PASSWORD);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                lines.append(rows.getString(1)).append('\n');
            }
            return lines.toString();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void run(String login, String password, String sql) {
        try (Connection connection = DriverManager.getConnection(url(), login, password);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    @Override
    public void close() {
        Unchecked.run(server::close);
    }
}
