package io.mintmark.postgres.log;

import io.mintmark.audit.Checkpoint.Position;
import io.mintmark.audit.SealStore;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.postgres.connection.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Where the chains end that don't end where they were last sealed, as one transaction sees it. They
 * grew, or the mark is wrong, as after a checkpoint that no broker made, and then they are sealed
 * anew.
 */
final class ChainHeads implements SealStore.Heads {
    /**
     * Jumps from chain to chain along the index. The bound keeps it to the partitions of the last
     * weeks; a chain that only older mints wrote to is found at the next start.
     */
    private static final String EVENTS =
            """
            WITH RECURSIVE known (chain) AS (
                (SELECT chain FROM audit.event
                  WHERE mint_id >= audit.first_mint_id(now() - cast(? AS interval))
                  ORDER BY chain LIMIT 1)
                UNION ALL
                SELECT (SELECT event.chain FROM audit.event
                         WHERE event.chain > known.chain
                           AND mint_id >= audit.first_mint_id(now() - cast(? AS interval))
                         ORDER BY event.chain LIMIT 1)
                  FROM known WHERE known.chain IS NOT NULL)
            SELECT known.chain, head.seq AS at, encode(head.hash, 'hex') AS hash
              FROM known
             CROSS JOIN LATERAL (SELECT seq, hash FROM audit.event
                                  WHERE event.chain = known.chain
                                  ORDER BY seq DESC LIMIT 1) AS head
              LEFT JOIN runtime.sealed_chain AS sealed
                     ON sealed.kind = 'event' AND sealed.chain = known.chain
             WHERE head.seq <> coalesce(sealed.position, 0)
             ORDER BY known.chain
            """;

    private static final String CHANGES =
            """
            SELECT nullif(owner.name, '') AS chain, head.revision AS at,
                   encode(head.hash, 'hex') AS hash
              FROM (SELECT '' AS name UNION ALL SELECT tenant.name FROM broker.tenant) AS owner
             CROSS JOIN LATERAL audit.last_change(nullif(owner.name, '')) AS head
              LEFT JOIN runtime.sealed_chain AS sealed
                     ON sealed.kind = 'change' AND sealed.chain = owner.name
             WHERE head.revision <> coalesce(sealed.position, 0)
             ORDER BY owner.name
            """;

    private static final String REMEMBER =
            """
            INSERT INTO runtime.sealed_chain (kind, chain, position)
            SELECT kind, chain, position
              FROM unnest(?::text[], ?::text[], ?::bigint[]) AS sealed (kind, chain, position)
                ON CONFLICT (kind, chain) DO UPDATE SET position = excluded.position
            """;

    private static final String LATELY = "35 days";
    private static final String EVER = "50 years";

    private final Connection connection;
    private final boolean everything;
    private List<Position> events = List.of();
    private List<Position> changes = List.of();

    ChainHeads(Connection connection, boolean everything) {
        this.connection = connection;
        this.everything = everything;
    }

    @Override
    public List<Position> events() {
        String time = everything ? EVER : LATELY;
        events = read(Query.of(EVENTS, time, time));
        return events;
    }

    @Override
    public List<Position> changes() {
        changes = read(Query.of(CHANGES));
        return changes;
    }

    private List<Position> read(Query query) {
        try {
            return query.list(
                    connection,
                    row ->
                            new Position(
                                    Query.text(row, "chain"),
                                    row.getLong("at"),
                                    row.getString("hash")));
        } catch (SQLException e) {
            throw new StoreUnreachable("the heads of the audit log can't be read", false, e);
        }
    }

    /** The heads that were asked for are sealed: one statement, since a trigger looks at each. */
    void remember() throws SQLException {
        List<String> kinds = new ArrayList<>(Collections.nCopies(events.size(), "event"));
        kinds.addAll(Collections.nCopies(changes.size(), "change"));
        List<Position> heads = new ArrayList<>(events);
        heads.addAll(changes);
        Query.of(
                        REMEMBER,
                        kinds,
                        heads.stream().map(head -> head.chain().orElse("")).toList(),
                        heads.stream().map(Position::at).toList())
                .execute(connection);
    }
}
