package io.mintmark.postgres.log;

import io.mintmark.audit.Checkpoint.Position;
import io.mintmark.audit.SealStore;
import io.mintmark.audit.StoreUnreachable;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

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
        events = read(EVENTS, everything ? EVER : LATELY, 2);
        return events;
    }

    @Override
    public List<Position> changes() {
        changes = read(CHANGES, "", 0);
        return changes;
    }

    private List<Position> read(String sql, String parameter, int times) {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 1; i <= times; i++) {
                statement.setString(i, parameter);
            }
            return positions(statement);
        } catch (SQLException e) {
            throw new StoreUnreachable("the heads of the audit log can't be read", false, e);
        }
    }

    private static List<Position> positions(PreparedStatement statement) throws SQLException {
        List<Position> positions = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                positions.add(
                        new Position(
                                Optional.ofNullable(rows.getString("chain")),
                                rows.getLong("at"),
                                rows.getString("hash")));
            }
        }
        return positions;
    }

    /** The heads that were asked for are sealed: one statement, since a trigger looks at each. */
    void remember() throws SQLException {
        List<String> kinds = new ArrayList<>(Collections.nCopies(events.size(), "event"));
        kinds.addAll(Collections.nCopies(changes.size(), "change"));
        List<Position> heads = new ArrayList<>(events);
        heads.addAll(changes);
        try (PreparedStatement statement = connection.prepareStatement(REMEMBER)) {
            statement.setArray(1, array("text", kinds.stream()));
            statement.setArray(2, array("text", heads.stream().map(h -> h.chain().orElse(""))));
            statement.setArray(3, array("bigint", heads.stream().map(Position::at)));
            statement.executeUpdate();
        }
    }

    private Array array(String type, Stream<?> values) throws SQLException {
        return connection.createArrayOf(type, values.toArray());
    }
}
