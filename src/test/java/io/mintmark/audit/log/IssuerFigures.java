package io.mintmark.audit.log;

import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.catalogue.PostgresIdentityProviders;
import io.mintmark.broker.grant.IdentityProviderStore;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures the database's cost of a replica's look at the identity providers, twice a second while
 * nothing changes, and after a change. Not run with the tests, but by
 *
 * <pre>mvn test -Dtest=IssuerFigures -Dfigures.providers=20000</pre>
 *
 * on an embedded server of its own. Prints the lines of docs/internals/performance.md.
 */
class IssuerFigures {
    private static final int PROVIDERS = Integer.getInteger("figures.providers", 20_000);

    /** The polls of a replica in ten minutes. */
    private static final int POLLS = 1_200;

    @Test
    void figures() throws Exception {
        try (ScaledServer server = new ScaledServer();
                Database app = new Database(server.login(Who.APP))) {
            // Past the triggers, which would take minutes.
            server.superuser()
                    .run(
                            """
                            SET session_replication_role = replica;
                            ALTER TABLE broker.tenant DISABLE TRIGGER ALL;
                            ALTER TABLE broker.identity_provider DISABLE TRIGGER ALL;
                            INSERT INTO broker.tenant (name) SELECT 'tenant-' || t FROM generate_series(0, %1$d - 1, 2) AS t;
                            INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                            SELECT 'idp-' || n, 'tenant-' || n / 2 * 2, 'https://issuer-' || n %% 7 || '.example.com', ARRAY['audience-' || n]
                              FROM generate_series(0, %1$d - 1) AS n;
                            ALTER TABLE broker.tenant ENABLE TRIGGER ALL;
                            ALTER TABLE broker.identity_provider ENABLE TRIGGER ALL;
                            """
                                    .formatted(PROVIDERS));
            server.superuser().run("VACUUM ANALYZE");
            AtomicLong later = new AtomicLong();
            measure(
                    server,
                    new PostgresIdentityProviders(app, () -> System.nanoTime() + later.get()),
                    later);
        }
    }

    private static void measure(
            ScaledServer server, PostgresIdentityProviders providers, AtomicLong later)
            throws Exception {
        StatementCosts costs = new StatementCosts(server.superuser());
        costs.of("all at the start", providers::entries);
        IdentityProviderStore.Entries before = providers.entries();
        costs.of(
                "idle polls",
                () -> {
                    for (int i = 0; i < POLLS; i++) {
                        var _ = providers.entries();
                    }
                });
        server.superuser()
                .run("UPDATE broker.identity_provider SET clock_skew = 5 WHERE name = 'idp-1'");
        costs.of(
                "after a change",
                () -> {
                    if (providers.entries().equals(before)) {
                        throw new IOException("the change was not seen");
                    }
                });
        later.set(TimeUnit.MINUTES.toNanos(5));
        costs.of("after five minutes", providers::entries);
        costs.all()
                .forEach(cost ->
                        System.out.printf(
                                "%,d identity providers, %s: %.2f ms for each of %d calls, %.0f blocks: %.60s%n",
                                PROVIDERS,
                                cost.what(),
                                cost.millis(),
                                cost.calls(),
                                cost.blocks(),
                                cost.statement()));
    }
}
