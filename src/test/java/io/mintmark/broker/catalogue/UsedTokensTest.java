package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.tenant.IdpName;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;

/** Tokens that work once, in the table that all replicas share. */
@Tag("every-postgres")
class UsedTokensTest {
    private static final IdpName CI = new IdpName("ci");

    @AutoClose private TestDatabase database;
    private Database connections;
    private PostgresUsedTokens usedTokens;

    @BeforeEach
    void open() {
        database = TestDatabase.migrated();
        connections = database.closing(new Database(database.login(Who.APP)));
        usedTokens = new PostgresUsedTokens(connections);
    }

    /** By the clock of the database, which is that of this machine here. */
    private boolean use(String tokenId, Duration untilUnusable) {
        return usedTokens.use(CI, tokenId, Instant.now().plus(untilUnusable));
    }

    @Test
    void a_token_works_once() {
        assertTrue(use("a", Duration.ofMinutes(5)));
        assertFalse(use("a", Duration.ofMinutes(5)));
    }

    @Test
    void what_a_replica_whose_clock_is_behind_could_still_accept_is_remembered() {
        assertTrue(use("ended", Duration.ofMinutes(-59)));
        usedTokens.forget();
        assertFalse(use("ended", Duration.ofMinutes(-59)));
    }

    @Test
    void what_no_replica_could_accept_is_forgotten() {
        assertTrue(use("old", Duration.ofMinutes(-61)));
        assertTrue(use("young", Duration.ofMinutes(1)));
        usedTokens.forget();
        database.assertRows(Who.APP, "SELECT token_id FROM runtime.used_token", "young");
    }
}
