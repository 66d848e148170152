package io.mintmark.audit.log;

import io.mintmark.base.sql.Query;

/**
 * The chains of {@code audit.event} and their ends, found without reading other rows: the statement
 * jumps from chain to chain along the index of chains, and then to each chain's last row.
 */
final class EventChains {
    /** The view that auditors read. */
    private static final String VIEW = "audit.event";

    /** The table that the service reads: the view needs all columns, the service has only some. */
    private static final String TABLE = "log.event";

    /**
     * Columns {@code chain}, {@code at} and {@code hash}. The bound is the beginning of a month, so
     * that it excludes whole partitions and never filters rows of a partition that is read.
     */
    private static final String HEADS =
            """
            WITH RECURSIVE known (chain) AS (
                (SELECT e.chain FROM %1$s AS e
                  WHERE e.mint_id >= (SELECT audit.first_mint_id(date_trunc('month', now() - cast(? AS interval), 'UTC')))
                    AND e.chain IS NOT NULL
                  ORDER BY e.chain LIMIT 1)
                UNION ALL
                SELECT (SELECT e.chain FROM %1$s AS e
                         WHERE e.chain > known.chain
                           AND e.mint_id >= (SELECT audit.first_mint_id(date_trunc('month', now() - cast(? AS interval), 'UTC')))
                         ORDER BY e.chain LIMIT 1)
                  FROM known WHERE known.chain IS NOT NULL)
            SELECT known.chain, head.seq AS at, encode(head.hash, 'hex') AS hash
              FROM known
             CROSS JOIN LATERAL (SELECT e.seq, e.hash FROM %1$s AS e
                                  WHERE e.chain = known.chain
                                  ORDER BY e.seq DESC LIMIT 1) AS head
            """;

    static final String UNSEALED =
            ("""
            SELECT grown.chain, coalesce(sealed.position, 0) AS sealed, grown.at, grown.hash FROM (
            """
                            + HEADS
                            + """
                            ) AS grown
                              LEFT JOIN work.sealed_chain AS sealed
                                     ON sealed.kind = 'event' AND sealed.chain = grown.chain
                             WHERE grown.at <> coalesce(sealed.position, 0)
                             ORDER BY grown.chain
                            """)
                    .formatted(TABLE);

    /** Rows are late by less: an outcome that waited for the database, an end of a credential. */
    static final String LATELY = "35 days";

    static final String EVER = "50 years";

    private EventChains() {}

    /**
     * Returns the ends of all chains.
     *
     * @param everything of all chains; else of those that mints of this month or of the last 35
     *     days wrote to
     */
    static Query heads(boolean everything) {
        return of(HEADS.formatted(VIEW), everything);
    }

    /**
     * Returns the ends of the chains that don't end where they were last sealed.
     *
     * @param everything as in {@link #heads}
     */
    static Query unsealed(boolean everything) {
        return of(UNSEALED, everything);
    }

    private static Query of(String sql, boolean everything) {
        String since = everything ? EVER : LATELY;
        return Query.of(sql, since, since);
    }
}
