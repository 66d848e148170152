package io.mintmark.benchmark;

import io.mintmark.endtoend.OwnServer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A PostgreSQL that writes to disk as in production, with a database for each broker. */
final class BenchDatabase implements AutoCloseable {
    static final String AUDITOR = "load_auditor";

    private static final String SERVICE = "load_app";
    private static final String PASSWORD = "for-load";
    private static final String LOGINS =
            """
            CREATE ROLE load_app LOGIN PASSWORD 'for-load' IN ROLE mintmark_app;
            CREATE ROLE load_owner LOGIN PASSWORD 'for-load' IN ROLE mintmark_owner;
            CREATE ROLE load_auditor LOGIN PASSWORD 'for-load' IN ROLE mintmark_auditor;
            """;

    private final OwnServer server;

    BenchDatabase() throws IOException, SQLException {
        server = new OwnServer(Files.createTempDirectory("mintmark-load"));
        run("postgres", Files.readString(Path.of("db", "roles.sql")));
        run("postgres", LOGINS);
        run("postgres", "ALTER DATABASE postgres SET synchronous_commit = on");
    }

    void create(String name) throws IOException, SQLException {
        run("postgres", "CREATE DATABASE " + name);
        run("postgres", "ALTER DATABASE %s SET synchronous_commit = on".formatted(name));
        run(name, Files.readString(Path.of("db", "roles.sql")));
    }

    /** The settings that tell a broker of it. */
    Map<String, String> settings(String name) {
        return Map.of(
                "DATABASE_URL", url(name),
                "DATABASE_USERNAME", SERVICE,
                "DATABASE_PASSWORD", PASSWORD,
                "DATABASE_OWNER_USERNAME", "load_owner",
                "DATABASE_OWNER_PASSWORD", PASSWORD);
    }

    private String url(String name) {
        return server.url().replaceFirst("/postgres$", "/" + name);
    }

    Connection connect(String name) throws SQLException {
        return DriverManager.getConnection(url(name), "postgres", "");
    }

    void run(String name, String sql) throws SQLException {
        try (Connection connection = connect(name);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    long number(String name, String sql) throws SQLException {
        try (Connection connection = connect(name);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** Processor time of all its processes so far, of those that ended too. */
    Duration processorTime() throws IOException {
        return server.processorTime();
    }

    /** Ends it at once, without a word to anybody, and starts it again. */
    void restart(Duration later) throws InterruptedException {
        server.stopImmediately();
        TimeUnit.MILLISECONDS.sleep(later.toMillis());
        server.startAgain();
    }

    @Override
    public void close() {
        server.close();
    }
}
