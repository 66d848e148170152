package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;

/** A login that takes the lock with which migrations wait for each other. */
@Tag("every-postgres")
class MigrationLockTest {
    private static final String LOCK =
            "SELECT pg_advisory_xact_lock(%d)".formatted(MigrationLock.KEY);

    @AutoClose private final TestDatabase database = TestDatabase.migrated();

    private int migrate() {
        return new Migrations(database.login(Who.OWNER), TestDatabase.ROLES, false).run();
    }

    @ParameterizedTest
    @EnumSource(names = "OWNER", mode = EnumSource.Mode.EXCLUDE)
    void a_login_that_never_migrates_is_named_at_once(Who who) throws SQLException {
        try (Connection session = database.connect(who);
                Statement statement = session.createStatement()) {
            session.setAutoCommit(false);
            statement.execute(LOCK);

            DatabaseUnfit unfit = assertThrows(DatabaseUnfit.class, this::migrate);

            String said = String.valueOf(unfit.getMessage());
            assertTrue(said.startsWith("login \"%s\" (process ".formatted(who.login())), said);
            assertTrue(said.contains("SELECT pg_terminate_backend("), said);
            session.rollback();
        }
        assertEquals(0, migrate());
    }

    /** Also proves that the key is the one that Flyway waits for. */
    @Test
    void another_migration_is_waited_for() throws SQLException {
        CompletableFuture<Integer> migrated;
        try (Connection session = database.connect(Who.OWNER);
                Statement statement = session.createStatement()) {
            session.setAutoCommit(false);
            statement.execute(LOCK);
            migrated = CompletableFuture.supplyAsync(this::migrate);
            Eventually.holds(this::isTried);
            assertFalse(migrated.isDone());
            session.rollback();
        }
        assertEquals(0, migrated.join());
    }

    private boolean isTried() {
        return !database.column(
                        Who.OWNER,
                        """
                        SELECT pid FROM pg_stat_activity
                         WHERE datname = current_database() AND application_name = 'mintmark migrations'
                           AND query LIKE '%pg_try_advisory%'
                        """)
                .isEmpty();
    }
}
