package io.mintmark.broker.lease;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The early ends that a tenant asked for don't wait for those of another tenant. */
class EarlyEndTurnsTest {
    private static final String LEFT =
            "SELECT tenant || ' ' || count(*) FROM runtime.early_end GROUP BY tenant ORDER BY tenant";

    @AutoClose private final TestDatabase database = TestDatabase.migrated();

    private void ask(String tenant, int ends) {
        database.runAsSuperuser(
                "INSERT INTO work.early_end (mint_id, tenant, asked_by) SELECT gen_random_uuid(), '%s', 'ann' FROM generate_series(1, %d)"
                        .formatted(tenant, ends));
    }

    private void turn() {
        database.run(Who.APP, LeaseStatements.NOTE_REQUESTS);
    }

    @Test
    void a_turn_takes_a_share_of_each_tenant() {
        ask("acme", 3000);
        ask("globex", 2);
        turn();
        database.assertRows(LEFT, "acme 2500");
        turn();
        database.assertRows(LEFT, "acme 1500");
    }

    @Test
    void a_row_of_a_mint_without_an_ending_does_not_stay() {
        ask("acme", 1);
        turn();
        database.assertRows(LEFT);
    }
}
