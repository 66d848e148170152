package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

/**
 * What a tenant admin does to others who locks the table of grants: PostgreSQL lets everybody lock
 * a table who may delete from it.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("heavy")
class LockedTablesTest {
    private World world;
    private Connection tenantAdmin;

    @BeforeEach
    void lock() throws SQLException {
        world = new World(Map.of("CATALOG_MAX_STALENESS", "PT1S"));
        Eventually.holds(() -> mint("ci:main").status() == 200);
        tenantAdmin = world.database().connect(Who.TENANT_ADMIN);
        tenantAdmin.setAutoCommit(false);
        try (Statement statement = tenantAdmin.createStatement()) {
            statement.execute("LOCK TABLE broker.subject_grant IN ACCESS EXCLUSIVE MODE");
        }
    }

    @AfterEach
    void stop() throws SQLException {
        tenantAdmin.close();
        world.close();
    }

    private Answer mint(String subject) {
        return world.broker().mint(world.issuer().sign(subject, World.AUDIENCE), "api");
    }

    @Test
    void who_minted_before_goes_on_for_as_long_as_nothing_changes() {
        for (int i = 0; i < 20; i++) {
            assertEquals(200, mint("ci:main").status());
        }
        long staleness = System.nanoTime() + 1_500_000_000;
        Eventually.holds(() -> System.nanoTime() > staleness);
        assertEquals(200, mint("ci:main").status());
    }

    @Test
    void what_must_be_read_is_unavailable_until_the_lock_is_gone() throws SQLException {
        Answer answer = mint("ci:new");
        assertEquals("503 SERVICE_UNAVAILABLE ", answer.verdict());
        String message = answer.body().at("/message").textValue();
        assertTrue(message.contains("a lock held by another database session"), message);
        assertTrue(answer.body().at("/retryAfter").intValue() >= 1);
        assertEquals(200, mint("ci:main").status());
        tenantAdmin.rollback();
        assertEquals(403, mint("ci:new").status());
    }

    @Test
    void a_tenant_that_is_disabled_meanwhile_mints_nothing() throws SQLException {
        world.admin("UPDATE broker.tenant SET enabled = false WHERE name = 'acme'");
        assertTrue(mint("ci:main").status() != 200);
        tenantAdmin.rollback();
        Eventually.holds(() -> mint("ci:main").status() == 401);
    }
}
