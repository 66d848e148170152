package io.mintmark.base.sql;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;

class TestDatabaseTest {
    /** PostgreSQL lists it as a session only when it has started. */
    @Test
    void a_connection_that_is_being_made_does_not_keep_a_database_from_being_replaced() {
        try (TestDatabase database = TestDatabase.migrated();
                TestDatabase other = database.copy()) {
            String oid = "(SELECT oid FROM pg_database WHERE datname = '%s')";
            CompletableFuture<Connection> slow =
                    CompletableFuture.supplyAsync(() -> connect(database));
            Eventually.holds(() ->
                    !other.column(
                                    "SELECT pid FROM pg_locks WHERE locktype = 'object' AND objid = "
                                            + oid.formatted(database.name()))
                            .isEmpty());
            database.replaceBy(other);
            assertThrows(SQLException.class, () -> ended(slow.join()));
        }
    }

    private static Connection connect(TestDatabase database) {
        try {
            return DriverManager.getConnection(
                    database.url() + "?options=-c%20post_auth_delay=1",
                    Who.ADMIN.login(),
                    database.password());
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void ended(Connection connection) throws SQLException {
        try (connection) {
            connection.createStatement().execute("SELECT 1");
        }
    }
}
