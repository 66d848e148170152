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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A migration beside a session that keeps a transaction open. PostgreSQL lets all later statements
 * wait for the one that waits, so a migration that waits for a reader of the log stops mints.
 */
@Tag("every-postgres")
class MigrationBesideReadersTest {
    private static final Duration AT_MOST_A_SECOND = Duration.ofSeconds(1);

    @AutoClose private final TestDatabase database = TestDatabase.migrated();

    /** Lets the file that defines audit.mint run again. */
    @BeforeEach
    void setUp() {
        database.run(
                Who.OWNER,
                "DELETE FROM runtime.flyway_schema_history WHERE script = 'R__10_audit_views.sql'");
    }

    private int migrate(Duration patience) {
        return new Migrations(database.login(Who.OWNER), TestDatabase.ROLES, false, patience).run();
    }

    @Test
    void a_session_that_never_ends_its_transaction_is_named() throws SQLException {
        try (Connection reader = database.connect(Who.AUDITOR);
                Statement reads = reader.createStatement()) {
            reader.setAutoCommit(false);
            reads.execute("SELECT FROM audit.mint");

            DatabaseUnfit unfit =
                    assertThrows(DatabaseUnfit.class, () -> migrate(AT_MOST_A_SECOND));

            String said = String.valueOf(unfit.getMessage());
            assertTrue(
                    said.contains(
                            "other sessions hold in open transactions: login \"%s\" (process "
                                    .formatted(Who.AUDITOR.login())),
                    said);
            assertTrue(said.contains("SELECT pg_terminate_backend("), said);
            assertFalse(said.contains(Who.OWNER.login()), said);
        }
        assertEquals(1, migrate(Eventually.PATIENCE));
    }

    @Test
    void others_wait_for_the_migration_at_most_a_second_and_it_goes_on_when_the_reader_ends()
            throws SQLException {
        CompletableFuture<Integer> migrated;
        try (Connection reader = database.connect(Who.AUDITOR);
                Connection other = database.connect(Who.ADMIN);
                Statement reads = reader.createStatement();
                Statement waits = other.createStatement()) {
            reader.setAutoCommit(false);
            reads.execute("SELECT FROM audit.mint");
            migrated = CompletableFuture.supplyAsync(() -> migrate(Eventually.PATIENCE));
            Eventually.holds(this::isWaiting);

            waits.execute("SET statement_timeout = '1s'");
            Eventually.holds(() -> reads(waits));

            assertFalse(migrated.isDone());
            reader.rollback();
        }
        assertEquals(1, migrated.join());
    }

    /** Whether it has what it reads before its time is over, which a loaded machine may use up. */
    private static boolean reads(Statement statement) {
        try {
            return statement.execute("SELECT FROM audit.mint");
        } catch (SQLException e) {
            assertEquals("57014", e.getSQLState(), e::toString);
            return false;
        }
    }

    private boolean isWaiting() {
        return !database.column(
                        Who.OWNER,
                        """
                        SELECT l.pid
                          FROM pg_locks AS l
                          JOIN pg_database AS d ON d.oid = l.database
                         WHERE NOT l.granted AND d.datname = current_database()
                        """)
                .isEmpty();
    }

    /** A view that one login makes for a script would stop the upgrade, without a name. */
    @Test
    void a_temporary_object_that_depends_on_what_goes_is_named_with_its_login()
            throws SQLException {
        database.run(
                Who.OWNER,
                """
                SET ROLE mintmark_owner;
                CREATE FUNCTION internal.odd_character_in(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
                GRANT EXECUTE ON FUNCTION internal.odd_character_in(text) TO mintmark_auditor;
                DELETE FROM runtime.flyway_schema_history WHERE script = 'R__45_lint.sql';
                """);
        try (Connection member = database.connect(Who.AUDITOR);
                Statement statement = member.createStatement()) {
            statement.execute(
                    "CREATE TEMP VIEW seen AS SELECT internal.odd_character_in('x') AS odd");

            DatabaseUnfit unfit =
                    assertThrows(DatabaseUnfit.class, () -> migrate(AT_MOST_A_SECOND));

            String said = String.valueOf(unfit.getMessage());
            assertTrue(
                    said.contains("\"seen\" of login \"%s\"".formatted(Who.AUDITOR.login())), said);
            assertTrue(said.contains("SELECT pg_terminate_backend(pid)"), said);
            assertFalse(said.contains("CASCADE"), said);
        }
        assertTrue(migrate(Eventually.PATIENCE) > 0);
    }
}
