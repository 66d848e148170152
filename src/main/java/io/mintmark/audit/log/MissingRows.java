package io.mintmark.audit.log;

import io.mintmark.audit.log.LostRow.Kind;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Queries;

import java.util.List;

/**
 * Finds out which rows a database lacks: changes of the configuration, and checkpoints. Throws
 * {@link io.mintmark.base.sql.QueryFailed} if the database can't be asked.
 */
public final class MissingRows {
    private static final String MISSING =
            """
            SELECT known.kind, known.chain, known.place, known.hash
              FROM unnest(cast(? AS text[]), cast(? AS text[]), cast(? AS bigint[]), cast(? AS text[]))
                   AS known (kind, chain, place, hash)
             WHERE NOT CASE
                   WHEN known.kind = 'checkpoint' THEN EXISTS (
                        SELECT FROM log.checkpoint AS c
                         WHERE c.number = known.place
                           AND encode(sha256(convert_to(c.jws, 'UTF8')), 'hex') = known.hash)
                   WHEN known.chain = '' THEN EXISTS (
                        SELECT FROM log.config_change AS c
                         WHERE c.tenant IS NULL AND c.revision = known.place
                           AND encode(c.hash, 'hex') = known.hash)
                   ELSE EXISTS (
                        SELECT FROM log.config_change AS c
                         WHERE c.tenant = known.chain COLLATE "C" AND c.revision = known.place
                           AND encode(c.hash, 'hex') = known.hash) END
            """;

    private final Queries queries;

    public MissingRows(Database database) {
        this.queries = database.reading();
    }

    /** Returns the given rows that the database no longer has. */
    public List<LostRow> among(List<LostRow> rows) {
        return queries.query(
                MISSING,
                LostRow.columns(rows),
                row ->
                        new LostRow(
                                Kind.of(row.column("kind").get(String.class)),
                                row.column("chain").get(String.class),
                                row.column("place").get(Long.class),
                                row.column("hash").get(String.class)));
    }
}
