package io.mintmark.base.sql;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.endtoend.Eventually;

import java.util.List;

/** Rows of the log that a broker wrote and sealed, for tests in other rooms. */
public final class SealedRows {
    private SealedRows() {}

    /** So many mints, two rows each, under a checkpoint. */
    public static void write(TestDatabase database, int mints) {
        GrantedMints granted = new GrantedMints(database);
        try (Database connections = database.pool();
                AuditLog log =
                        new AuditLog(
                                        new PostgresEventStore(connections, "test"),
                                        Eventually.PATIENCE)
                                .start()) {
            for (int i = 0; i < mints; i++) {
                var _ = log.record(granted.of(AuditRows.mint("ci:main", "{}")));
            }
        }
        Seals.seal(database);
    }

    /** The key that sealed them. */
    public static TrustedKeys trusted() {
        return new TrustedKeys(List.of(Seals.KEY));
    }
}
