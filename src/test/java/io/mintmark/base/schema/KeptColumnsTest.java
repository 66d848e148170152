package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AskedAccess;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

import java.util.Objects;

/** Who wrote and who approved a row is kept by triggers, whatever privileges its writer has. */
class KeptColumnsTest {
    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);

    @ParameterizedTest
    @CsvSource({
        "key, TENANT_ADMIN",
        "access_rule, TENANT_ADMIN",
        "access_approver, TENANT_ADMIN",
        "key, ADMIN",
        "access_rule, ADMIN",
        "access_approver, ADMIN"
    })
    void a_row_is_not_approved_by_writing_so(String table, Who who) {
        String approved = "SELECT count(*) FROM broker.%s WHERE approved_at IS NOT NULL";
        String before = database.value(approved.formatted(table));
        ServerErrorMessage message =
                refused(
                        who,
                        "UPDATE broker.%s SET approved_by = session_user, approved_at = now()"
                                .formatted(table));
        assertEquals(
                "The statement sets the column approved_at, but only the database may set it.",
                message.getMessage());
        assertEquals("42501", message.getSQLState());
        assertTrue(String.valueOf(message.getHint()).contains("broker.pending_approval"));
        database.assertRows(approved.formatted(table), before);
    }

    @ParameterizedTest
    @CsvSource({
        "created_at, now() - interval '1 day'",
        "created_by, current_database()",
        "updated_at, now() - interval '1 day'",
        "updated_by, current_database()"
    })
    void a_row_is_not_signed_by_writing_so(String column, String value) {
        ServerErrorMessage message =
                refused(Who.TENANT_ADMIN, "UPDATE broker.key SET %s = %s".formatted(column, value));
        assertEquals(
                "The statement sets the column %s, but only the database may set it."
                        .formatted(column),
                message.getMessage());
    }

    /** The columns are not protected by privileges, so each table must have the trigger. */
    @Test
    void each_table_that_members_write_refuses_values_for_these_columns() {
        String refusing =
                """
                SELECT c.relname || '.' || a.attname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname IN ('created_by', 'approved_by')
                 WHERE c.relnamespace = 'broker'::regnamespace AND c.relkind = 'r'
                   AND (has_any_column_privilege('mintmark_admin', c.oid, 'INSERT') OR has_any_column_privilege('mintmark_admin', c.oid, 'UPDATE'))
                   AND %s EXISTS (SELECT FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid
                                   WHERE t.tgrelid = c.oid AND t.tgtype & 3 = 3 AND t.tgenabled = 'A'
                                     AND strpos(p.prosrc, format('internal.%%s(NEW, OLD)', CASE a.attname WHEN 'created_by' THEN 'signed' ELSE 'approved' END)) > 0)
                 ORDER BY 1
                """;
        database.assertRows(Who.OWNER, refusing.formatted("NOT"));
        assertTrue(database.column(Who.OWNER, refusing.formatted("")).size() > 15);
    }

    private ServerErrorMessage refused(Who who, String sql) {
        IllegalStateException refused =
                assertThrows(IllegalStateException.class, () -> database.run(who, sql));
        return Objects.requireNonNull(
                ((PSQLException) Objects.requireNonNull(refused.getCause()))
                        .getServerErrorMessage());
    }
}
