package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

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

/** The database assigns the ids of rows, and refuses a given id with a message that says so. */
class GivenIdsTest {
    @AutoClose private final TestDatabase database = TestDatabase.filled(AskedAccess.TENANT);

    @ParameterizedTest
    @CsvSource({
        "subject_grant, TENANT_ADMIN",
        "blocked_subject, TENANT_ADMIN",
        "access_rule, TENANT_ADMIN",
        "access_approver, TENANT_ADMIN",
        "access_decision, TENANT_ADMIN",
        "grant_review, TENANT_ADMIN",
        "subject_grant, ADMIN",
        "console_access, ADMIN"
    })
    void an_id_that_is_given_is_refused_in_words(String table, Who who) {
        IllegalStateException refused =
                assertThrows(
                        IllegalStateException.class,
                        () ->
                                database.run(
                                        who,
                                        "INSERT INTO broker.%s (id) VALUES (7)".formatted(table)));
        ServerErrorMessage message =
                Objects.requireNonNull(
                        ((PSQLException) Objects.requireNonNull(refused.getCause()))
                                .getServerErrorMessage());
        assertEquals(
                "The statement sets the id 7, but the database assigns the ids of broker.%s."
                        .formatted(table),
                message.getMessage());
        assertEquals("428C9", message.getSQLState());
        assertEquals("id", message.getColumn());
    }

    /** Each of these tables has such a column. */
    @Test
    void every_id_of_rows_that_members_insert_is_drawn_by_the_trigger() {
        database.assertRows(
                Who.OWNER,
                """
                SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'id' AND a.atttypid = 'bigint'::regtype
                 WHERE c.relnamespace = 'broker'::regnamespace AND c.relkind = 'r'
                   AND NOT (a.attidentity = '' AND has_column_privilege('mintmark_admin', c.oid, 'id', 'INSERT')
                            AND pg_get_serial_sequence(c.oid::regclass::text, 'id') IS NOT NULL)
                """);
    }

    @Test
    void without_an_id_the_next_one_is_drawn() {
        database.run(
                Who.TENANT_ADMIN,
                """
                INSERT INTO broker.blocked_subject (id, tenant, subject, reason)
                VALUES (DEFAULT, 'acme', 'a', 'INC-1'), (NULL, 'acme', 'b', 'INC-1');
                INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'c', 'INC-1')
                """);
        database.assertRows(
                "SELECT id || subject FROM broker.blocked_subject ORDER BY id", "1a", "2b", "3c");
    }

    @Test
    void nobody_gives_a_row_another_id() {
        for (Who who : new Who[] {Who.ADMIN, Who.TENANT_ADMIN}) {
            assertThrows(
                    IllegalStateException.class,
                    () -> database.run(who, "UPDATE broker.access_rule SET id = 9 WHERE id = 1"));
        }
    }
}
