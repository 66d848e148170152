package io.mintmark.base.sql;

import io.mintmark.base.sql.TestDatabase.Who;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

/** The roles of a database, and a login for each of them. */
final class TestRoles {
    /** In the database that all tests know. */
    private static final long LOCK = 4_711;

    private TestRoles() {}

    /** Roles are the whole server's, which tests of other processes may prepare at that moment. */
    static void create(String database) {
        try (Connection alone = superuser("postgres");
                Statement lock = alone.createStatement();
                Connection there = superuser(database);
                Statement statement = there.createStatement()) {
            lock.execute("SELECT pg_advisory_lock(%d)".formatted(LOCK));
            statement.execute(Files.readString(Path.of("db", "roles.sql")));
            for (Who who : Who.values()) {
                statement.execute(login(who));
            }
        } catch (SQLException e) {
            throw new IllegalStateException("the roles can't be made", e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Connection superuser(String database) throws SQLException {
        TestServer.Address server = TestServer.address();
        return DriverManager.getConnection(
                server.url(database), server.superuser(), server.password());
    }

    private static String login(Who who) {
        return """
        DO $$ BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%1$s') THEN
                CREATE ROLE %1$s LOGIN PASSWORD '%2$s' IN ROLE %3$s;
            END IF;
        END $$
        """
                .formatted(who.login(), TestDatabase.PASSWORD, who.role());
    }
}
