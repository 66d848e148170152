package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** The ends of chains are found whatever else the log holds, and cost nothing for old rows. */
@Tag("every-postgres")
class EventChainsTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** The oldest moment of the months that are looked at, and one before them. */
    private static final String EARLY =
            "date_trunc('month', now() - interval '35 days', 'UTC') + interval '1 minute'";

    private static final String LONG_AGO =
            "date_trunc('month', now() - interval '35 days', 'UTC') - interval '1 day'";

    @AutoClose private TestDatabase database;
    private int chains;

    @BeforeEach
    void open() {
        database = TestDatabase.migrated();
        database.runAsSuperuser(
                """
                SET ROLE mintmark_owner;
                SELECT audit.create_partition((now() - n * interval '1 month')::date) FROM generate_series(0, 4) AS n;
                """);
    }

    /** Adds rows to a chain, from a position on. */
    private void write(String chain, String time, int from, int to) {
        database.alterLog(
                """
                INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, issuer, reason, broker, chain, seq, prev_hash, hash)
                SELECT (substr(audit.first_mint_id(%1$s)::text, 1, 14) || '7' || substr(lpad(to_hex(n), 20, '0'), 1, 3) || '-8'
                        || '%5$03d' || '-' || lpad(to_hex(n), 12, '0'))::uuid,
                       2, 'rejected', %1$s, 'r', 'https://issuer.example', 'invalid_signature', 'test', '%2$s', n,
                       sha256(''), sha256((n || '%2$s')::bytea)
                  FROM generate_series(%3$d, %4$d) AS n
                """
                        .formatted(time, chain, from, to, ++chains));
    }

    private List<String> heads(boolean everything) throws SQLException {
        try (Connection connection = database.connect(Who.APP)) {
            return EventChains.unsealed(everything)
                    .list(connection, row -> row.getString("chain") + " " + row.getLong("at"));
        }
    }

    @Test
    void chains_of_the_last_weeks_are_found_with_their_last_row_however_old_its_mint_is()
            throws SQLException {
        write("2.a", LONG_AGO, 1, 3);
        write("2.b", EARLY, 1, 2);
        write("2.c", "now()", 1, 2);
        write("2.c", LONG_AGO, 3, 3); // an outcome that came late
        assertEquals(List.of("2.b 2", "2.c 3"), heads(false));
        assertEquals(List.of("2.a 3", "2.b 2", "2.c 3"), heads(true));
    }

    @Test
    void ten_times_as_many_old_rows_cost_the_same() throws SQLException, IOException {
        write("2.old", EARLY, 1, 2_000);
        write("2.new", "now()", 1, 200);
        database.runAsSuperuser("ANALYZE audit.event");
        long before = pages(false);
        write("2.old", EARLY, 2_001, 20_000);
        write("2.retired", LONG_AGO, 1, 20_000);
        database.runAsSuperuser("ANALYZE audit.event");
        long after = pages(false);
        assertTrue(after <= before * 2 + 20, "%d pages before, %d after".formatted(before, after));
        assertTrue(pages(true) <= before * 3 + 40, "all chains: " + pages(true));
    }

    /** Pages that the statement reads, from the server's own count. */
    private long pages(boolean everything) throws SQLException, IOException {
        String since = everything ? EventChains.EVER : EventChains.LATELY;
        String explained = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + EventChains.UNSEALED;
        try (Connection connection = database.connect(Who.APP)) {
            String plan =
                    Query.of(explained, since, since)
                            .first(connection, row -> row.getString(1))
                            .orElseThrow();
            return JSON.readTree(plan).at("/0/Plan/Shared Hit Blocks").asLong()
                    + JSON.readTree(plan).at("/0/Plan/Shared Read Blocks").asLong();
        }
    }
}
