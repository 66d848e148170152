package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.token.LogBook;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Statements that PostgreSQL lets a mere member run, on a broker that mints. */
class MemberLocksTest {
    @AutoClose private final World world = new World();

    private Answer mint(String subject) {
        return world.broker().mint(world.issuer().sign(subject, World.AUDIENCE), "api");
    }

    @Test
    void drop_owned_by_a_group_role_stops_no_mint_and_takes_nothing_away() throws SQLException {
        for (Who who : Who.values()) {
            if (who == Who.OWNER) {
                continue;
            }
            try (Connection member = world.database().connect(who);
                    Statement statement = member.createStatement()) {
                member.setAutoCommit(false);
                try {
                    statement.execute("DROP OWNED BY " + who.role());
                } catch (SQLException e) { // where a role has privileges on columns alone
                    assertEquals("42501", e.getSQLState(), who::name);
                }

                assertEquals(200, mint("ci:main").status(), who::name);
                assertEquals(403, mint("ci:new" + who).status(), who::name);
                world.admin("UPDATE broker.key SET description = '%s'".formatted(who));
                member.commit();
            }
            assertEquals(200, mint("ci:main").status(), who::name);
            assertEquals(403, mint("ci:after" + who).status(), who::name);
            assertEquals(
                    "1",
                    world.database()
                            .column(Who.AUDITOR, "SELECT count(*) FROM broker.tenant")
                            .getFirst());
        }
    }

    /**
     * PostgreSQL waits for the lock before it looks whose table it is, so a statement that it would
     * refuse waits for readers, and everybody else waits for it.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "VACUUM FULL audit.event",
                "CREATE RULE more AS ON INSERT TO audit.event DO INSTEAD NOTHING",
                "CREATE TRIGGER more INSTEAD OF INSERT ON audit.event FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()"
            })
    void a_statement_of_a_member_on_the_log_delays_no_mint_while_somebody_reads_it(String sql)
            throws Exception {
        assertEquals(200, mint("ci:main").status());
        try (Connection reader = world.database().connect(Who.AUDITOR);
                Connection member = world.database().connect(Who.AUDITOR);
                Statement reads = reader.createStatement();
                Statement statement = member.createStatement()) {
            reader.setAutoCommit(false);
            reads.execute("SELECT FROM audit.event");
            CompletableFuture<Void> refused =
                    CompletableFuture.runAsync(() -> {
                        try {
                            statement.execute(sql);
                        } catch (SQLException e) {
                            assertEquals("42501", e.getSQLState());
                        }
                    });

            Latency.assertTakes(Duration.ofSeconds(1), () -> Latency.time(() -> mint("ci:main")));

            reader.rollback();
            refused.get();
        }
    }

    @Test
    void a_lock_on_the_log_is_named_in_the_answer_and_in_the_broker_s_log() throws Exception {
        assertEquals(200, mint("ci:main").status());
        try (LogBook book = LogBook.open();
                Connection owner = world.database().connect(Who.OWNER);
                Statement statement = owner.createStatement()) {
            owner.setAutoCommit(false);
            statement.execute("LOCK TABLE ONLY log.event IN ACCESS EXCLUSIVE MODE");

            Answer answer = mint("ci:main");

            assertEquals("503 SERVICE_UNAVAILABLE ", answer.verdict());
            String message = answer.body().at("/message").textValue();
            assertTrue(message.contains("database session holds a lock on the audit log"), message);
            assertFalse(message.contains("test_"), message);
            String logged =
                    "waits for a lock on log.event held by login \"%s\" (process "
                            .formatted(Who.OWNER.login());
            assertFalse(book.linesWith(logged).isEmpty(), book::text);
            owner.rollback();
        }
        Eventually.holds(() -> mint("ci:main").status() == 200);
    }

    /** It has no process that could be ended, and outlives its session and the server. */
    @Test
    void a_prepared_transaction_that_has_the_lock_is_named() throws Exception {
        try (LogBook book = LogBook.open();
                Connection owner = world.database().connect(Who.OWNER);
                Statement statement = owner.createStatement()) {
            statement.execute(
                    """
                    BEGIN;
                    LOCK TABLE ONLY log.event IN ACCESS EXCLUSIVE MODE;
                    PREPARE TRANSACTION 'it''s forgotten';
                    """);
            try {
                assertEquals("503 SERVICE_UNAVAILABLE ", mint("ci:main").verdict());
            } finally {
                statement.execute("ROLLBACK PREPARED 'it''s forgotten'");
            }
            String logged =
                    "waits for a lock on log.event held by the prepared transaction 'it's forgotten' of login \"%s\""
                            .formatted(Who.OWNER.login());
            assertFalse(book.linesWith(logged).isEmpty(), book::text);
            assertFalse(book.linesWith("ROLLBACK PREPARED 'it''s forgotten'").isEmpty());
        }
        Eventually.holds(() -> mint("ci:main").status() == 200);
    }
}
