package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A lock of a member on a table of the configuration, while mints need what no replica has in its
 * caches. The lock lasts until the test ends, so a mint that waited for it would be 503.
 */
class LockedConfigurationTest {
    /** The longest that a statement of a member may delay a mint. */
    private static final Duration MOST = Duration.ofSeconds(1);

    @AutoClose
    private static final World world = new World(Map.of("CATALOG_MAX_STALENESS", "PT1S"));

    private static Answer mint(String subject) {
        return world.broker().mint(world.issuer().sign(subject, World.AUDIENCE), "api");
    }

    private static void grant(String subject) {
        world.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', '%s', 'api')"
                        .formatted(subject));
    }

    /** Everything that a replica may hold without asking is too old by then. */
    private static void outliveStaleness() {
        long past = System.nanoTime() + 1_500_000_000;
        Eventually.holds(() -> System.nanoTime() > past);
    }

    private static void mintsAll(String granted) {
        assertEquals("200  ", mint(granted).verdict());
        assertEquals("403 FORBIDDEN ", mint("ci:stranger").verdict());
        mintsWithinASecond(granted);
        mintsWithinASecond(World.SUBJECT);
    }

    /** Each mint reads the configuration anew. */
    private static void mintsWithinASecond(String subject) {
        Latency.assertTakes(
                MOST,
                () -> {
                    outliveStaleness();
                    return Latency.time(() -> mint(subject));
                });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"key", "subject_grant", "blocked_subject", "access_rule", "access_approver"})
    void a_tenant_admin_who_locks_a_table_delays_no_mint(String table) throws SQLException {
        grant("ci:new-" + table);
        try (Connection member = world.database().connect(Who.TENANT_ADMIN);
                Statement statement = member.createStatement()) {
            member.setAutoCommit(false);
            statement.execute("LOCK TABLE broker.%s IN ACCESS EXCLUSIVE MODE".formatted(table));

            mintsAll("ci:new-" + table);

            member.rollback();
        }
    }

    /** Such a lock has no session that could be ended. */
    @Test
    void locks_of_a_prepared_transaction_delay_no_mint() throws SQLException {
        grant("ci:prepared");
        try (Connection member = world.database().connect(Who.TENANT_ADMIN);
                Statement statement = member.createStatement()) {
            statement.execute(
                    """
                    BEGIN;
                    LOCK TABLE broker.key, broker.subject_grant, broker.blocked_subject, broker.access_rule,
                        broker.access_approver IN ACCESS EXCLUSIVE MODE;
                    PREPARE TRANSACTION 'locks of all';
                    """);
            try {
                mintsAll("ci:prepared");
            } finally {
                statement.execute("ROLLBACK PREPARED 'locks of all'");
            }
        }
    }

    /** PostgreSQL waits for the lock before it looks whose table it is. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "tenant",
                "identity_provider",
                "access_provider",
                "provider_type",
                "key",
                "subject_grant",
                "blocked_subject",
                "access_rule"
            })
    void a_statement_that_waits_for_a_reader_delays_no_mint(String table) throws Exception {
        grant("ci:read-" + table);
        try (Connection reader = world.database().connect(Who.AUDITOR);
                Connection member = world.database().connect(Who.AUDITOR);
                Statement reads = reader.createStatement();
                Statement statement = member.createStatement()) {
            reader.setAutoCommit(false);
            reads.execute("SELECT FROM broker." + table);
            CompletableFuture<Void> refused =
                    CompletableFuture.runAsync(() -> {
                        try {
                            statement.execute(
                                    "CREATE RULE more AS ON INSERT TO broker.%s DO INSTEAD NOTHING"
                                            .formatted(table));
                        } catch (SQLException e) {
                            assertEquals("42501", e.getSQLState());
                        }
                    });
            Eventually.holds(() ->
                    !world.database()
                            .column(
                                    "SELECT pid FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'")
                            .isEmpty());

            mintsAll("ci:read-" + table);

            reader.rollback();
            refused.get();
        }
    }

    @Test
    void what_is_revoked_during_a_lock_mints_no_more() throws SQLException {
        grant("ci:revoked");
        assertEquals(200, mint("ci:revoked").status());
        try (Connection member = world.database().connect(Who.TENANT_ADMIN);
                Statement statement = member.createStatement()) {
            member.setAutoCommit(false);
            statement.execute("LOCK TABLE broker.access_rule IN ACCESS EXCLUSIVE MODE");

            world.admin("DELETE FROM broker.subject_grant WHERE subject = 'ci:revoked'");
            assertEquals("403 FORBIDDEN ", mint("ci:revoked").verdict());
            world.admin("UPDATE broker.tenant SET display_name = 'Acme' WHERE name = 'acme'");
            assertEquals("200  ", mint(World.SUBJECT).verdict());

            member.rollback();
        }
    }

    @Test
    void a_tenant_that_is_disabled_during_a_lock_mints_nothing() throws SQLException {
        assertEquals(200, mint(World.SUBJECT).status());
        try (Connection member = world.database().connect(Who.TENANT_ADMIN);
                Statement statement = member.createStatement()) {
            member.setAutoCommit(false);
            statement.execute("LOCK TABLE broker.subject_grant IN ACCESS EXCLUSIVE MODE");

            world.admin("UPDATE broker.tenant SET enabled = false WHERE name = 'acme'");
            assertEquals("401 UNAUTHORIZED unknown_issuer", mint(World.SUBJECT).verdict());

            member.rollback();
        } finally {
            world.admin("UPDATE broker.tenant SET enabled = true WHERE name = 'acme'");
        }
        Eventually.holds(() -> mint(World.SUBJECT).status() == 200);
    }
}
