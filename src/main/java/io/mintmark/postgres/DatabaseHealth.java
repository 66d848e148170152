package io.mintmark.postgres;

import java.util.Map;
import java.util.Optional;

/** Whether the database answers, and can be written to. */
public final class DatabaseHealth {
    private static final String WRITABLE =
            """
            SELECT NOT pg_is_in_recovery()
                   AND current_setting('transaction_read_only') = 'off' AS writable
            """;

    private final Queries queries;

    public DatabaseHealth(Database database) {
        this.queries = database.writing();
    }

    /** What is wrong with it, in a sentence for strangers; nothing if nothing is. */
    public Optional<String> fault() {
        try {
            boolean writable =
                    queries.query(
                                    WRITABLE,
                                    Map.of(),
                                    row -> row.column("writable").get(Boolean.class))
                            .getFirst();
            return writable
                    ? Optional.empty()
                    : Optional.of("the database is read-only, so nothing can be recorded");
        } catch (QueryFailed e) {
            return Optional.of("the database can't be reached");
        }
    }
}
