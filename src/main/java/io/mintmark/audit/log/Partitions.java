package io.mintmark.audit.log;

import io.mintmark.base.sql.Queries;
import io.mintmark.base.tenant.MintId;

import java.util.List;
import java.util.Map;

/** The months of {@code audit.event}. */
final class Partitions {
    private static final int MONTHS_AHEAD = 3;
    private static final String CREATE = "SELECT audit.create_partitions(:months) AS created";

    /** A month that is over and has no partition: {@code audit retire} detached it. */
    private static final String RETIRED =
            """
            SELECT month.name < to_char(now() AT TIME ZONE 'UTC', '"event_"YYYY"_"MM')
                   AND NOT EXISTS (
                       SELECT FROM pg_catalog.pg_inherits AS i
                         JOIN pg_catalog.pg_class AS part ON part.oid = i.inhrelid
                        WHERE i.inhparent = cast('log.event' AS regclass)
                          AND part.relname = month.name) AS retired
              FROM (SELECT to_char(to_timestamp(cast(? AS bigint) / 1000.0) AT TIME ZONE 'UTC',
                                   '"event_"YYYY"_"MM') AS name) AS month
            """;

    private Partitions() {}

    /** Creates the missing partitions of the current and the next months, and returns how many. */
    static int create(Queries queries) {
        return queries.query(
                        CREATE,
                        Map.of("months", MONTHS_AHEAD),
                        row -> row.column("created").get(Integer.class))
                .getFirst();
    }

    /** Whether the rows of the mint's month were taken out of the log. */
    static boolean isRetired(Queries queries, MintId mint) {
        return queries.query(
                        RETIRED,
                        List.of(Long.toString(mint.millis())),
                        row -> row.column("retired").get(Boolean.class))
                .getFirst();
    }
}
