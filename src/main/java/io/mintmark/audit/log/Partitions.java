package io.mintmark.audit.log;

import io.mintmark.base.sql.Queries;

import java.util.Map;

/** The months of {@code audit.event}. */
final class Partitions {
    private static final int MONTHS_AHEAD = 3;
    private static final String CREATE = "SELECT audit.create_partitions(:months) AS created";

    private Partitions() {}

    /** Creates the missing partitions of the current and the next months, and returns how many. */
    static int create(Queries queries) {
        return queries.query(
                        CREATE,
                        Map.of("months", MONTHS_AHEAD),
                        row -> row.column("created").get(Integer.class))
                .getFirst();
    }
}
