package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Optional;

/** Connections that read one state of the log. */
class AuditConnectionTest {
    private static final String OPEN =
            "SELECT count(*)::text FROM pg_stat_activity WHERE datname = current_database()"
                    + " AND application_name = 'mintmark audit'";

    @AutoClose private static final TestDatabase database = TestDatabase.migrated();

    @Test
    void one_that_is_refused_its_snapshot_is_closed() {
        DatabaseLogin auditor = database.login(Who.AUDITOR);
        DatabaseLogin late =
                new DatabaseLogin(
                        auditor.url(),
                        auditor.username(),
                        auditor.password(),
                        Optional.of("00000003-0000001B-1"));

        StoreUnreachable refusal =
                assertThrows(StoreUnreachable.class, () -> new AuditConnection(late, "-c jit=off"));

        assertTrue(String.valueOf(refusal.getMessage()).contains("snapshot"), refusal.toString());
        Eventually.holds(() -> database.column(OPEN).equals(List.of("0")));
    }

    @Test
    void one_that_reads_is_open_until_it_is_closed() {
        try (AuditConnection _ = new AuditConnection(database.login(Who.AUDITOR), "-c jit=off")) {
            database.assertRows(OPEN, "1");
        }
        Eventually.holds(() -> database.column(OPEN).equals(List.of("0")));
    }
}
