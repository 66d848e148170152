package io.mintmark.audit.log;

import static io.mintmark.audit.log.OwnLosses.TIMELINE;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.chain.Chain;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.SealStore;
import io.mintmark.audit.log.PostgresEventStore.WrittenHead;
import io.mintmark.base.sql.Query;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Where the chains end that don't end where they were last sealed, as one transaction sees it. They
 * grew, or the mark is wrong, as after a checkpoint that no broker made, and then they are sealed
 * anew.
 */
final class ChainHeads implements SealStore.Heads {
    /** The ends of the chains of changes of these owners: tenants, and '' for the rest. */
    private static final String CHANGES =
            """
            SELECT nullif(owner.name, '') AS chain, coalesce(sealed.position, 0) AS sealed,
                   head.revision AS at, encode(head.hash, 'hex') AS hash
              FROM (%s) AS owner (name)
             CROSS JOIN LATERAL audit.last_change(nullif(owner.name, '')) AS head
              LEFT JOIN work.sealed_chain AS sealed
                     ON sealed.kind = 'change' AND sealed.chain = owner.name
             WHERE head.revision <> coalesce(sealed.position, 0)
             ORDER BY owner.name
            """;

    private static final String ALL_CHANGES =
            CHANGES.formatted("SELECT '' UNION ALL SELECT tenant.name FROM broker.tenant");

    /**
     * Looks only at owners of changes that weren't committed when the horizon was taken, and of
     * those whose marks the last checkpoint moved, which may be one that no broker made.
     */
    private static final String CHANGES_SINCE =
            CHANGES.formatted(
                    """
                    SELECT coalesce(c.tenant, '') FROM log.config_change AS c WHERE c.transaction_id >= ?
                     UNION
                    SELECT s.chain FROM internal.sealed_by_last_checkpoint() AS s WHERE s.kind = 'change'
                    """);

    private static final String REMEMBER =
            """
            INSERT INTO work.sealed_chain (kind, chain, position)
            SELECT kind, chain, position
              FROM unnest(?::text[], ?::text[], ?::bigint[]) AS sealed (kind, chain, position)
                ON CONFLICT (kind, chain) DO UPDATE SET position = excluded.position
            """;

    private static final String SEALED =
            """
            SELECT coalesce(max(position), 0) AS at FROM work.sealed_chain
             WHERE kind = 'event' AND chain = ?
            """;

    private final Connection connection;
    private final boolean everything;
    private final OptionalLong horizon;
    private final Supplier<Optional<WrittenHead>> own;
    private List<Position> events = List.of();
    private List<Position> changes = List.of();

    /**
     * @param everything whether to look at all chains
     * @param horizon the transaction from which on changes may be unsealed; empty if unknown
     * @param own the end of the chain that this replica writes
     */
    ChainHeads(
            Connection connection,
            boolean everything,
            OptionalLong horizon,
            Supplier<Optional<WrittenHead>> own) {
        this.connection = connection;
        this.everything = everything;
        this.horizon = horizon;
        this.own = own;
    }

    @Override
    public List<Position> events() {
        Optional<WrittenHead> written = own.get(); // first, so that the query sees its row
        List<Position> found = read(EventChains.unsealed(everything));
        events = written.filter(this::isStillThere).map(it -> asWritten(found, it)).orElse(found);
        return events;
    }

    /**
     * Whether the writer's last row is in the log. A promoted standby may never have received it.
     */
    private boolean isStillThere(WrittenHead written) {
        return written.head().isPresent() && written.timeline().equals(text(TIMELINE, "timeline"));
    }

    /** Replaces a chain's end in the table with the end that its writer wrote. */
    private List<Position> asWritten(List<Position> found, WrittenHead written) {
        Chain.Head head = written.head().orElseThrow();
        Optional<String> chain = Optional.of(head.chain());
        Stream<Position> others = found.stream().filter(each -> !each.chain().equals(chain));
        long sealed = Long.parseLong(text(SEALED, "at", head.chain()));
        Stream<Position> own =
                head.seq() > sealed
                        ? Stream.of(Position.grown(chain, sealed, head.seq(), head.hash()))
                        : Stream.empty();
        return Stream.concat(others, own)
                .sorted(Comparator.comparing(each -> each.chain().orElse("")))
                .toList();
    }

    private String text(String sql, String column, String... parameters) {
        try {
            return Query.of(sql, (Object[]) parameters)
                    .first(connection, row -> row.getString(column))
                    .orElseThrow();
        } catch (SQLException e) {
            throw unreadable(e);
        }
    }

    private static StoreUnreachable unreadable(SQLException cause) {
        return new StoreUnreachable(
                "the last rows of the audit log's chains can't be read", false, cause);
    }

    @Override
    public List<Position> changes() {
        changes =
                read(
                        everything || horizon.isEmpty()
                                ? Query.of(ALL_CHANGES)
                                : Query.of(CHANGES_SINCE, horizon.getAsLong()));
        return changes;
    }

    @Override
    public String root() {
        try {
            return SealedTree.root(connection, events, changes);
        } catch (SQLException e) {
            throw unreadable(e);
        }
    }

    private List<Position> read(Query query) {
        try {
            return query.list(
                    connection,
                    row ->
                            Position.grown(
                                    Query.text(row, "chain"),
                                    row.getLong("sealed"),
                                    row.getLong("at"),
                                    row.getString("hash")));
        } catch (SQLException e) {
            throw unreadable(e);
        }
    }

    /**
     * Stores that the requested heads are sealed, in one statement, because a trigger checks each
     * statement.
     */
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
