package io.mintmark.auditor.explain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A function in RETURNING that writes the row of its statement again, and leaves it as it was. Its
 * writes are recorded before the statement's own.
 */
@Tag("every-postgres")
class SecondWriteTest {
    /**
     * Changes that don't begin where the last change of the row ended; a rename counts for both
     * names.
     */
    private static final String OUT_OF_ORDER =
            """
            SELECT concat_ws(' ', table_name, operation, revision)
              FROM (SELECT c.table_name, c.operation, c.revision, s.before,
                           lag(s.after) OVER (PARTITION BY c.table_name, c.tenant, s.name ORDER BY c.revision) AS last
                      FROM audit.config_change AS c
                     CROSS JOIN LATERAL (SELECT coalesce(before ->> 'id', before ->> 'name') AS old,
                                                coalesce(after ->> 'id', after ->> 'name') AS new) AS n
                     CROSS JOIN LATERAL (
                           SELECT coalesce(old, new), before, after WHERE old IS NULL OR new IS NULL OR old = new
                            UNION ALL SELECT old, before, NULL WHERE old <> new
                            UNION ALL SELECT new, NULL, after WHERE old <> new) AS s (name, before, after)
                     WHERE c.table_name IN ('key', 'subject_grant', 'blocked_subject')) AS step
             WHERE before IS DISTINCT FROM last
            """;

    @AutoClose private TestDatabase database;

    @BeforeEach
    void setUp() throws IOException {
        database = TestDatabase.filled(SqlCase.script("roles", "setup"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    UPDATE broker.key SET description = 'new' WHERE name = 'api' RETURNING pg_temp.again() | UPDATE broker.key SET description = NULL WHERE name = 'api'; UPDATE broker.key SET description = 'new' WHERE name = 'api'
                    UPDATE broker.key SET description = 'new' WHERE name = 'api' RETURNING pg_temp.again() | UPDATE broker.key SET description = 'other' WHERE name = 'api'; UPDATE broker.key SET description = 'new' WHERE name = 'api'
                    INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'own', 600, '{"audience": "https://api.example.com"}') RETURNING pg_temp.again() | DELETE FROM broker.key WHERE name = 'new'; INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'own', 600, '{"audience": "https://api.example.com"}')
                    INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'own', 600, '{"audience": "https://api.example.com"}') RETURNING pg_temp.again() | UPDATE broker.key SET description = 'away' WHERE name = 'new'; UPDATE broker.key SET description = NULL WHERE name = 'new'
                    INSERT INTO broker.key AS k (tenant, name, provider, max_duration, settings) VALUES ('acme', 'api', 'own', 600, '{}') ON CONFLICT (tenant, name) DO UPDATE SET description = 'new' RETURNING pg_temp.again() | UPDATE broker.key SET description = NULL WHERE name = 'api'; UPDATE broker.key SET description = 'new' WHERE name = 'api'
                    DELETE FROM broker.key WHERE name = 'spare' RETURNING pg_temp.again() | INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'spare', 'own', 600, '{"audience": "https://api.example.com"}'); DELETE FROM broker.key WHERE name = 'spare'
                    WITH d AS (DELETE FROM broker.key WHERE name = 'spare' RETURNING pg_temp.again()) SELECT * FROM d | INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'spare', 'own', 600, '{"audience": "https://api.example.com"}'); DELETE FROM broker.key WHERE name = 'spare'
                    UPDATE broker.key SET name = 'renamed' WHERE name = 'spare' RETURNING pg_temp.again() | UPDATE broker.key SET name = 'spare' WHERE name = 'renamed'; UPDATE broker.key SET name = 'renamed' WHERE name = 'spare'
                    UPDATE broker.subject_grant SET reason = 'new' WHERE subject = 'main' RETURNING pg_temp.again() | UPDATE broker.subject_grant SET reason = NULL WHERE subject = 'main'; UPDATE broker.subject_grant SET reason = 'new' WHERE subject = 'main'
                    INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'new', 'api') RETURNING pg_temp.again() | UPDATE broker.subject_grant SET enabled = false WHERE subject = 'new'; UPDATE broker.subject_grant SET enabled = true WHERE subject = 'new'
                    INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'new', 'api') RETURNING pg_temp.again() | DELETE FROM broker.subject_grant WHERE subject = 'new'; INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'new', 'api')
                    UPDATE broker.blocked_subject SET reason = 'new' WHERE subject = 'own' RETURNING pg_temp.again() | UPDATE broker.blocked_subject SET reason = 'ours' WHERE subject = 'own'; UPDATE broker.blocked_subject SET reason = 'new' WHERE subject = 'own'
                    INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'new', 'r') RETURNING pg_temp.again() | UPDATE broker.blocked_subject SET enabled = false WHERE subject = 'new'; UPDATE broker.blocked_subject SET enabled = true WHERE subject = 'new'
                    INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'new', 'r') RETURNING pg_temp.again() | DELETE FROM broker.blocked_subject WHERE subject = 'new'; INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'new', 'r')
                    """)
    void a_second_write_of_a_row_within_a_statement_is_refused(String outer, String again)
            throws SQLException {
        SQLException refused = assertThrows(SQLException.class, () -> write(outer, again));
        assertEquals("27000", refused.getSQLState(), refused::toString);
        database.assertRows(OUT_OF_ORDER);
    }

    /**
     * In the transaction that inserted "x", so that another "x" has the same times and can't be
     * told from it by its values.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.key SET name = 'y' WHERE name = 'x' RETURNING pg_temp.insert_x()",
                "UPDATE broker.key SET name = 'y' WHERE name = 'x'; INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'own', 600, '{\"audience\": \"https://api.example.com\"}') RETURNING pg_temp.delete_and_insert_x()",
                "INSERT INTO broker.key AS k (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'own', 600, '{\"audience\": \"https://api.example.com\"}') ON CONFLICT (tenant, name) DO UPDATE SET name = 'y' RETURNING pg_temp.insert_x()",
                "DELETE FROM broker.key WHERE name = 'x' RETURNING pg_temp.insert_x()"
            })
    void a_name_is_not_taken_while_the_row_that_had_it_is_on_record(String attack)
            throws SQLException {
        SQLException refused = assertThrows(SQLException.class, () -> inTransaction(attack));
        assertEquals("27000", refused.getSQLState(), refused::toString);
        database.assertRows(OUT_OF_ORDER);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE broker.key SET name = 'y' WHERE name = 'x'; SELECT pg_temp.insert_x()",
                "WITH renamed AS (UPDATE broker.key SET name = 'y' WHERE name = 'x' RETURNING *) INSERT INTO broker.key (tenant, name, provider, max_duration, settings) SELECT tenant, 'x', provider, max_duration, settings FROM renamed",
                "UPDATE broker.key SET name = 'y' WHERE name = 'x'; UPDATE broker.key SET name = 'x' WHERE name = 'y'; SELECT pg_temp.delete_and_insert_x()"
            })
    void a_name_is_taken_by_another_row_in_order(String statements) throws SQLException {
        inTransaction(statements);
        database.assertRows(OUT_OF_ORDER);
    }

    private void inTransaction(String attack) throws SQLException {
        try (Connection session = database.connect(Who.TENANT_ADMIN);
                Statement statement = session.createStatement()) {
            session.setAutoCommit(false);
            statement.execute(
                    """
                    CREATE FUNCTION pg_temp.insert_x() RETURNS void LANGUAGE plpgsql AS $f$
                    BEGIN
                        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                        VALUES ('acme', 'x', 'own', 600, '{"audience": "https://api.example.com"}');
                    END $f$;
                    CREATE FUNCTION pg_temp.delete_and_insert_x() RETURNS void LANGUAGE plpgsql AS $f$
                    BEGIN
                        DELETE FROM broker.key WHERE name = 'x';
                        PERFORM pg_temp.insert_x();
                    END $f$;
                    SELECT pg_temp.insert_x();
                    """);
            statement.execute(attack);
            session.commit();
        }
    }

    /** The rows have other ids, so these are writes of different rows. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    DELETE FROM broker.subject_grant WHERE subject = 'main' RETURNING pg_temp.again() | INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'main2', 'api'); DELETE FROM broker.subject_grant WHERE subject = 'main2'
                    DELETE FROM broker.blocked_subject WHERE subject = 'own' RETURNING pg_temp.again() | INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'own', 'ours'); DELETE FROM broker.blocked_subject WHERE subject = 'own'
                    """)
    void what_else_a_function_writes_is_recorded_in_order(String outer, String again)
            throws SQLException {
        write(outer, again);
        database.assertRows(OUT_OF_ORDER);
    }

    /** Each is a statement of its own, also within a transaction. */
    @Test
    void rows_are_written_many_times_in_a_transaction() throws SQLException {
        try (Connection session = database.connect(Who.TENANT_ADMIN);
                Statement statement = session.createStatement()) {
            session.setAutoCommit(false);
            for (int i = 0; i < 2; i++) {
                statement.execute(
                        """
                        UPDATE broker.key SET description = 'one' WHERE name = 'api';
                        UPDATE broker.key SET description = NULL WHERE name = 'api';
                        UPDATE broker.key SET name = 'away' WHERE name = 'spare';
                        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                        VALUES ('acme', 'spare', 'own', 600, '{"audience": "https://api.example.com"}');
                        UPDATE broker.key SET description = 'two' WHERE name = 'spare';
                        DELETE FROM broker.key WHERE name = 'away';
                        UPDATE broker.subject_grant SET reason = 'one';
                        UPDATE broker.subject_grant SET reason = NULL;
                        INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'new', 'r');
                        UPDATE broker.blocked_subject SET enabled = NOT enabled;
                        DELETE FROM broker.blocked_subject WHERE subject = 'new';
                        """);
            }
            session.commit();
        }
        database.admin(
                """
                UPDATE broker.tenant SET display_name = 'one' WHERE name = 'acme';
                UPDATE broker.tenant_admin SET role_name = 'more' WHERE role_name = 'somebody_else';
                DELETE FROM broker.tenant_admin WHERE role_name = 'more';
                INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('https://shared.example.com', '{owner}');
                UPDATE broker.shared_issuer SET owner_claims = '{owner_id}' WHERE issuer = 'https://shared.example.com';
                DELETE FROM broker.shared_issuer WHERE issuer = 'https://shared.example.com';
                UPDATE broker.console_access SET reason = 'r';
                DELETE FROM broker.console_access;
                """);
        database.assertRows(OUT_OF_ORDER);
    }

    private void write(String outer, String again) throws SQLException {
        try (Connection session = database.connect(Who.TENANT_ADMIN);
                Statement statement = session.createStatement()) {
            statement.execute(
                    """
                    INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                    VALUES ('acme', 'spare', 'own', 600, '{"audience": "https://api.example.com"}')
                    ON CONFLICT DO NOTHING;
                    CREATE OR REPLACE FUNCTION pg_temp.again() RETURNS void LANGUAGE plpgsql AS $f$ BEGIN %s; END $f$
                    """
                            .formatted(again));
            statement.execute(outer);
        }
    }
}
