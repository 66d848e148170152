package io.mintmark.base.sql;

import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

class TestDatabaseTest {
    @Test
    void a_connection_that_is_being_made_does_not_keep_a_database_from_being_replaced() {
        try (TestDatabase database = TestDatabase.migrated();
                TestDatabase other = database.copy()) {
            other.admin("INSERT INTO broker.tenant (name) VALUES ('acme')");
            Thread.startVirtualThread(() -> connect(database));
            Eventually.holds(database::hasStartingSessions);
            database.replaceBy(other);
            database.assertRows("SELECT name FROM broker.tenant", "acme");
        }
    }

    /** A session that takes a second to start, and is ended or refused. */
    private static void connect(TestDatabase database) {
        try (Connection session =
                DriverManager.getConnection(
                        database.url() + "?options=-c%20post_auth_delay=1",
                        Who.ADMIN.login(),
                        database.password())) {
            session.createStatement().execute("SELECT pg_sleep(60)");
        } catch (SQLException e) {
            // the database was replaced
        }
    }
}
