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

    /** Triggers and functions of the owner set these columns; only they may. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    id         | UPDATE broker.subject_grant SET id = id + 100
                    id         | UPDATE broker.subject_grant SET id = NULL
                    id         | UPDATE broker.access_rule SET id = DEFAULT
                    id         | UPDATE broker.access_approver SET id = id + 100
                    id         | UPDATE broker.blocked_subject SET id = id + 100
                    id         | MERGE INTO broker.access_rule AS r USING (VALUES (1)) AS v (id) ON r.id = v.id WHEN MATCHED THEN UPDATE SET id = 7
                    request_id | UPDATE broker.subject_grant SET request_id = gen_random_uuid()
                    request_id | INSERT INTO broker.subject_grant (tenant, idp, subject, key, request_id) SELECT tenant, idp, subject, key, gen_random_uuid() FROM broker.access_rule LIMIT 1
                    steps      | UPDATE broker.access_rule SET steps = '{}'
                    steps      | UPDATE broker.access_rule SET steps = NULL
                    steps      | INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, steps) SELECT tenant, key, idp, subject, max_access, '{2}' FROM broker.access_rule LIMIT 1
                    issuer     | UPDATE broker.access_approver SET issuer = 'https://another.example.com'
                    issuer     | UPDATE broker.access_approver SET issuer = NULL
                    issuer     | INSERT INTO broker.access_approver (rule, idp, issuer, subject) SELECT rule, idp, 'https://another.example.com', 'x' FROM broker.access_approver LIMIT 1
                    proposed   | UPDATE broker.blocked_subject SET proposed = '{"enabled": false}'
                    proposed   | INSERT INTO broker.blocked_subject (tenant, subject, reason, proposed) VALUES ('acme', 'x', 'INC-1', '{}')
                    decided_by | INSERT INTO broker.access_decision (request, verdict, decided_by) VALUES (gen_random_uuid(), 'approve', session_user)
                    created_at | INSERT INTO broker.access_decision (request, verdict, created_at) VALUES (gen_random_uuid(), 'approve', now() - interval '1 day')
                    created_by | INSERT INTO broker.access_decision (request, verdict, created_by) VALUES (gen_random_uuid(), 'approve', current_database())
                    """)
    void what_triggers_set_is_refused_by_its_name(String column, String sql) {
        for (Who who : new Who[] {Who.TENANT_ADMIN, Who.ADMIN}) {
            database.run(
                    Who.ADMIN,
                    """
                    INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'ci:%s', 'INC-1');
                    INSERT INTO broker.subject_grant (tenant, idp, subject, key) SELECT tenant, idp, 'ci:%s', key FROM broker.access_rule LIMIT 1
                    """
                            .formatted(who, who));
            ServerErrorMessage message = refused(who, sql);
            assertEquals(
                    "The statement sets the column %s, but only the database may set it."
                            .formatted(column),
                    message.getMessage());
            assertEquals("42501", message.getSQLState());
            String hint = String.valueOf(message.getHint());
            assertTrue(hint.startsWith("Leave out ") && hint.contains(column), hint);
        }
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
