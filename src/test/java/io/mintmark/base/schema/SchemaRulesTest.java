package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import java.util.List;
import java.util.stream.Stream;

/** What whoever writes a migration must keep to (docs/schema.md). */
@Tag("every-postgres")
class SchemaRulesTest {
    /**
     * Functions with a body or an argument default that is stored as an expression, and that depend
     * on the row type of a table or view, or on an array of it.
     */
    private static final String STORED_ROW_TYPES =
            """
            SELECT DISTINCT p.oid::regprocedure
              FROM pg_proc AS p
              JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                                 AND d.refclassid = 'pg_type'::regclass
              JOIN pg_type AS t ON t.oid = d.refobjid
              LEFT JOIN pg_type AS element ON element.oid = t.typelem
              JOIN pg_class AS c ON c.oid IN (t.typrelid, element.typrelid) AND c.relkind IN ('r', 'p', 'v')
             WHERE p.pronamespace::regnamespace::text IN ('broker', 'audit', 'log', 'runtime', 'work', 'internal')
               AND (p.prosqlbody IS NOT NULL OR p.proargdefaults IS NOT NULL)
            """;

    private static final String TABLES =
            """
            SELECT c.oid::regclass FROM pg_class AS c
             WHERE c.relnamespace::regnamespace::text IN ('broker', 'audit', 'runtime')
               AND c.relkind IN ('r', 'p') AND NOT c.relispartition
             ORDER BY 1
            """;

    /** Functions whose text is read anew in each session, and means what the session says. */
    private static final String READ_AS_THE_SESSION_SAYS =
            """
            SELECT p.oid::regprocedure FROM pg_proc AS p
             WHERE p.pronamespace::regnamespace::text IN ('broker', 'audit', 'log', 'runtime', 'work', 'internal')
               AND p.prosqlbody IS NULL AND strpos(p.prosrc, chr(92)) > 0
               AND NOT 'standard_conforming_strings=on' = ANY (p.proconfig)
            """;

    /** Up to PostgreSQL 17 a scan that the setting forbids costs enough to be compiled first. */
    private static final String COMPILED_FOR_NOTHING =
            """
            SELECT p.oid::regprocedure FROM pg_proc AS p
             WHERE 'enable_seqscan=off' = ANY (p.proconfig) AND NOT 'jit=off' = ANY (p.proconfig)
            """;

    @AutoClose private static final TestDatabase database = TestDatabase.migrated();

    @Test
    void no_session_changes_what_a_backslash_in_a_check_means() {
        database.assertRows(READ_AS_THE_SESSION_SAYS);
    }

    @Test
    void no_function_without_scans_waits_for_a_compiler() {
        database.assertRows(Who.OWNER, COMPILED_FOR_NOTHING);
    }

    @Test
    void no_stored_expression_holds_the_row_type_of_a_table() {
        database.assertRows(Who.OWNER, STORED_ROW_TYPES);
    }

    @Test
    void a_function_that_breaks_the_rule_is_found() {
        try (TestDatabase other = TestDatabase.migrated()) {
            other.run(
                    Who.OWNER,
                    """
                    SET ROLE mintmark_owner;
                    CREATE FUNCTION internal.name_of(key broker.key) RETURNS text
                        LANGUAGE sql RETURN key.name
                    """);
            assertEquals(
                    List.of("internal.name_of(broker.key)"),
                    other.column(Who.OWNER, STORED_ROW_TYPES));
        }
    }

    @TestFactory
    Stream<DynamicTest> a_later_migration_can_add_columns() {
        List<String> tables = database.column(Who.OWNER, TABLES);
        assertFalse(tables.isEmpty());
        return tables.stream()
                .map(table -> dynamicTest(table, () -> assertDoesNotThrow(() -> addColumn(table))));
    }

    private static void addColumn(String table) {
        database.run(
                Who.OWNER,
                """
                BEGIN;
                SET LOCAL ROLE mintmark_owner;
                ALTER TABLE %s ADD COLUMN added text NOT NULL DEFAULT 'x',
                               ADD COLUMN added_later timestamptz DEFAULT clock_timestamp();
                ROLLBACK
                """
                        .formatted(table));
    }

    @Test
    void every_column_that_must_be_written_is_explained_when_it_is_null() {
        database.assertRows(
                Who.OWNER,
                """
                SELECT a.attrelid::regclass || '.' || a.attname
                  FROM pg_trigger AS t
                  JOIN pg_proc AS p ON p.oid = t.tgfoid
                  JOIN pg_class AS c ON c.oid = t.tgrelid
                  JOIN pg_attribute AS a ON a.attrelid = t.tgrelid AND a.attnum > 0 AND a.attnotnull
                 WHERE t.tgname = 'check_' || c.relname AND c.relname <> 'access_request' AND NOT (a.attname = 'id' AND a.atttypid = 'bigint'::regtype) -- drawn by the trigger
                   AND a.attname NOT IN ('external_id', 'created_at', 'created_by', 'updated_at', 'updated_by')
                   AND a.attrelid::regclass || '.' || a.attname <> 'broker.access_rule.steps' -- kept by a trigger
                   AND NOT (p.prosrc ~ ('refuse_missing[(][^;]*[{,]' || a.attname || '[,}]')
                            AND (p.prosrc !~ 'num_nulls' OR p.prosrc ~ ('num_nulls[(][^)]*NEW[.]' || a.attname || '[,)]')))
                """);
    }

    @Test
    void a_table_has_one_trigger_that_checks_a_row_and_one_that_records_it() {
        database.assertRows(
                """
                SELECT c.relname
                  FROM pg_class AS c LEFT JOIN pg_trigger AS t ON t.tgrelid = c.oid AND NOT t.tgisinternal
                 WHERE c.relnamespace = 'broker'::regnamespace AND c.relkind = 'r'
                 GROUP BY c.relname
                HAVING count(*) FILTER (WHERE t.tgtype & 3 = 3) <> 1 OR count(*) FILTER (WHERE t.tgname = 'record_change') <> 1
                """);
    }

    @Test
    void an_insert_of_a_grant_fires_at_most_five_triggers() {
        database.assertRows(
                """
                SELECT tgname FROM pg_trigger
                 WHERE tgrelid = 'broker.subject_grant'::regclass AND NOT tgisinternal AND tgtype & 4 = 4
                 ORDER BY 1
                """,
                "FK_check_references",
                "check_inserted",
                "check_subject_grant",
                "record_change");
    }

    @Test
    void whatever_is_refused_is_refused_in_one_way() {
        database.assertRows(
                Who.OWNER,
                """
                SELECT proname FROM pg_proc
                 WHERE pronamespace::regnamespace::text
                       IN ('broker', 'audit', 'log', 'runtime', 'work', 'internal')
                   AND prosrc LIKE '%RAISE EXCEPTION%'
                 ORDER BY 1
                """,
                "refuse",
                "refuse_in");
    }

    @Test
    void every_function_and_every_column_says_what_it_is_for() {
        database.assertRows(
                Who.OWNER,
                """
                SELECT p.oid::regprocedure::text FROM pg_proc AS p
                 WHERE p.pronamespace::regnamespace::text
                       IN ('broker', 'audit', 'log', 'runtime', 'work', 'internal')
                   AND obj_description(p.oid, 'pg_proc') IS NULL
                 UNION ALL
                SELECT c.oid::regclass || '.' || a.attname
                  FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
                 WHERE c.relnamespace::regnamespace::text IN ('broker', 'audit', 'runtime')
                   AND c.relkind IN ('r', 'p') AND c.relname <> 'flyway_schema_history'
                   AND a.attnum > 0 AND NOT a.attisdropped
                   AND NOT c.relispartition
                   AND col_description(c.oid, a.attnum) IS NULL
                """);
    }

    @Test
    void only_what_admins_call_stands_in_the_schema_of_the_configuration() {
        database.assertRows(
                """
                SELECT DISTINCT proname FROM pg_proc
                 WHERE pronamespace = 'broker'::regnamespace ORDER BY 1
                """,
                "approve",
                "explain",
                "export_tenant",
                "import_tenant",
                "revision",
                "what_can_mint");
    }
}
