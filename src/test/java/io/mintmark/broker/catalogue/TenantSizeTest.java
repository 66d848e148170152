package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * What a tenant has is counted, whatever way it comes and goes, and is never more than its bound.
 */
@Tag("every-postgres")
class TenantSizeTest {
    private static final String COUNTED =
            """
            SELECT concat_ws(' ', keys, grants, globs, blocks, block_globs) FROM runtime.tenant_size WHERE tenant = 'acme'
            """;
    private static final String THERE =
            """
            SELECT concat_ws(' ', (SELECT count(*) FROM broker.key WHERE tenant = 'acme'),
                             count(*) FILTER (WHERE granted),
                             count(*) FILTER (WHERE granted AND match = 'glob'),
                             count(*) FILTER (WHERE NOT granted),
                             count(*) FILTER (WHERE NOT granted AND match = 'glob'))
              FROM (SELECT tenant, match, true AS granted FROM broker.subject_grant
                    UNION ALL
                    SELECT tenant, match, false FROM broker.blocked_subject) AS w
             WHERE tenant = 'acme'
            """;

    @AutoClose private TestDatabase database;

    @BeforeEach
    void create() throws IOException {
        database = TestDatabase.migrated();
        database.admin(SqlCase.script("refusals", "setup"));
    }

    private static String grants(String subjects) {
        return """
        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
        SELECT 'acme', 'ci', %s, 'api' FROM generate_series(1, 3) AS n
        """
                .formatted(subjects);
    }

    private void assertCounted() {
        assertEquals(database.column(THERE), database.column(COUNTED));
    }

    @Test
    void every_way_to_write_a_row_is_counted() {
        for (String edit :
                List.of(
                        grants("'one:' || n"),
                        "UPDATE broker.subject_grant SET match = 'glob' WHERE subject LIKE 'one:%'",
                        "UPDATE broker.subject_grant SET match = 'exact' WHERE subject = 'one:1'",
                        "DELETE FROM broker.subject_grant WHERE subject IN ('one:1', 'one:2')",
                        "INSERT INTO broker.key (tenant, name, provider, max_duration, settings)"
                                + " VALUES ('acme', 'new', 'own', 60, '{\"audience\": \"a\"}')"
                                + " ON CONFLICT DO NOTHING",
                        "DELETE FROM broker.key WHERE tenant = 'acme' AND name = 'new'",
                        "MERGE INTO broker.subject_grant AS g"
                                + " USING (VALUES ('one:3'), ('one:4')) AS w (subject)"
                                + " ON g.tenant = 'acme' AND g.subject = w.subject"
                                + " WHEN MATCHED THEN DELETE"
                                + " WHEN NOT MATCHED THEN INSERT (tenant, idp, subject, match, key)"
                                + " VALUES ('acme', 'ci', w.subject, 'glob', 'api')",
                        "BEGIN; " + grants("'two:' || n") + "; ROLLBACK",
                        "INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES"
                                + " ('acme', 'a', 'x'), ('acme', 'b', 'x'), (NULL, 'c', 'x'), ('other',"
                                + " 'd', 'x')",
                        "UPDATE broker.blocked_subject SET match = 'glob' WHERE subject <> 'a'",
                        "DELETE FROM broker.blocked_subject WHERE subject = 'b'")) {
            database.admin(edit);
            assertCounted();
        }
    }

    @Test
    void two_editors_at_once_can_not_pass_the_bound_together() throws Exception {
        database.admin("UPDATE broker.tenant SET max_grants = 6 WHERE name = 'acme'");
        try (Connection first = database.connect(Who.ADMIN);
                Statement statement = first.createStatement()) {
            first.setAutoCommit(false);
            statement.execute(grants("'first:' || n"));
            CompletableFuture<Void> second =
                    CompletableFuture.runAsync(() -> database.admin(grants("'second:' || n")));
            Eventually.holds(this::somebodyWaits);
            first.commit();
            Throwable said = assertThrows(CompletionException.class, second::join);
            while (said.getCause() != null) {
                said = said.getCause();
            }
            String message = String.valueOf(said.getMessage());
            assertTrue(
                    message.contains("Tenant \"acme\" would have 8 grants; the maximum is 6."),
                    message);
        }
        assertCounted();
    }

    private boolean somebodyWaits() {
        return !database.column(Who.OWNER, "SELECT 1 FROM pg_locks WHERE NOT granted").isEmpty();
    }
}
