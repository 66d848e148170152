package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;

/** No tenant holds up what counts for all tenants, and whoever writes that waits for each other. */
@Tag("every-postgres")
class PlatformLocksTest {
    private static final String BLOCK =
            "INSERT INTO broker.blocked_subject (subject, reason) VALUES ('a', 'INC-79')";
    private static final String AT_MOST = "SET statement_timeout = '3min'; ";

    /** The keys that functions of the owner used, and all that another version could. */
    private static final String ADVISORY_LOCKS =
            """
            SELECT pg_advisory_lock(hashtextextended(name, 0))
              FROM unnest('{mintmark: changes without tenant,mintmark: partitions of audit.event}'::text[]) AS name
            """;

    @AutoClose private final TestDatabase database = TestDatabase.migrated();

    private interface Work {
        void run();
    }

    private void whileHeld(Who who, String locks, Work work) throws SQLException {
        try (Connection other = database.connect(who);
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute(locks);
            work.run();
            other.rollback();
        }
    }

    @Test
    void a_login_with_advisory_locks_delays_no_block_and_no_partition() throws SQLException {
        whileHeld(
                Who.TENANT_ADMIN,
                ADVISORY_LOCKS,
                () -> {
                    database.admin(AT_MOST + BLOCK);
                    database.run(Who.APP, AT_MOST + "SELECT audit.create_partitions(4)");
                });
    }

    @Test
    void a_change_without_tenant_waits_for_another() throws SQLException {
        assertWaits(BLOCK, "UPDATE broker.shared_issuer SET owner_claims = owner_claims || '{x}'");
    }

    @Test
    void an_identity_provider_waits_for_a_change_of_shared_issuers() throws SQLException {
        database.admin("INSERT INTO broker.tenant (name) VALUES ('acme')");
        assertWaits(
                "INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES"
                        + " ('https://ci.example.com', '{x}')",
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('ci', 'acme', 'https://ci.example.org', '{acme}')
                """);
    }

    @Test
    void replicas_make_partitions_one_after_the_other() throws SQLException {
        String create = "SELECT audit.create_partitions(4)";
        assertWaits(create, create);
    }

    private void assertWaits(String first, String second) throws SQLException {
        Who who = first.startsWith("SELECT") ? Who.APP : Who.ADMIN;
        CompletableFuture<Void> waiting = new CompletableFuture<>();
        whileHeld(
                who,
                first,
                () -> {
                    Thread.startVirtualThread(() -> {
                        database.run(who, second);
                        waiting.complete(null);
                    });
                    Eventually.holds(this::somebodyWaits);
                    assertFalse(waiting.isDone());
                });
        waiting.join();
    }

    private boolean somebodyWaits() {
        return !database.column(Who.OWNER, "SELECT 1 FROM pg_locks WHERE NOT granted").isEmpty();
    }
}
