package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.net.URI;
import java.net.http.HttpRequest;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

/** Thousands of grants at once, while clients mint. */
@Tag("heavy")
class BulkEditTest {
    private static final String LOADS = "mintmark_catalogue_load_seconds_count{";
    private static final int IN_ONE_STATEMENT = 5_000;
    private static final int STATEMENTS = 200;

    @Test
    void thousands_of_grants_in_one_transaction_reload_a_tenant_once() throws SQLException {
        try (World world = new World(Map.of("CATALOG_MAX_STALENESS", "PT1H"));
                Connection admin = world.database().connect(Who.ADMIN)) {
            Eventually.holds(() -> mint(world) == 200);
            double before = loads(world);
            admin.setAutoCommit(false);
            edit(admin);
            assertEquals(200, mint(world));
            assertEquals(before, loads(world), "nothing is read before the commit");
            admin.commit();
            Eventually.holds(
                    () -> world.broker().keys(world.token()).body().at("/keys").size() == 3);
            assertEquals(
                    before + 3,
                    loads(world),
                    "the revision, the tenant and the grants of the one subject that asked");
        }
    }

    private static void edit(Connection admin) throws SQLException {
        try (Statement statement = admin.createStatement()) {
            statement.execute(
                    """
                    INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                    SELECT 'acme', 'ci', 'bulk:' || n, 'api' FROM generate_series(1, %d) AS n;
                    INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                    VALUES ('acme', 'ci', 'ci:main', 'spare');
                    """
                            .formatted(IN_ONE_STATEMENT));
            for (int n = 0; n < STATEMENTS; n++) {
                statement.addBatch(
                        """
                        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                        SELECT 'acme', 'ci', 'bulk:%d:' || n, 'api' FROM generate_series(1, 10) AS n
                        """
                                .formatted(n));
            }
            statement.executeBatch();
        }
    }

    private static int mint(World world) {
        return world.broker().mint(world.token(), "api").status();
    }

    /** How often the broker asked the database about tenants, keys and grants. */
    private static double loads(World world) {
        URI metrics =
                URI.create(
                        "http://localhost:%d/observe/metrics"
                                .formatted(world.broker().adminPort()));
        return world.broker()
                .send(HttpRequest.newBuilder(metrics).GET())
                .response()
                .body()
                .lines()
                .filter(line -> line.startsWith(LOADS))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
