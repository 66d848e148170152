package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Optional;

/** Which programs work on which schema, and what is said where they don't. */
@Tag("every-postgres")
class SchemaVersionTest {
    @AutoClose private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.migrated();
    }

    private int migrate(Who who) {
        return new Migrations(database.login(who), TestDatabase.ROLES, false).run();
    }

    private void start(@Nullable String program) {
        new SchemaCheck(database.login(Who.APP)).require(Optional.ofNullable(program));
    }

    private void schemaIs(int version, String oldestProgram) {
        database.runAsSuperuser(
                "UPDATE runtime.schema_version SET version = %d, oldest_program = '%s'"
                        .formatted(version, oldestProgram));
    }

    private static void assertSays(String words, Runnable refused) {
        String message =
                String.valueOf(assertThrows(DatabaseUnfit.class, refused::run).getMessage());
        assertTrue(message.contains(words), message);
        assertEquals(1, message.lines().count(), message);
    }

    @Test
    void the_last_migration_writes_the_version_of_this_program() {
        database.assertRows(
                "SELECT version FROM runtime.schema_version", String.valueOf(SchemaVersion.OURS));
    }

    @Test
    void a_program_starts_on_its_own_schema() {
        assertDoesNotThrow(() -> start("0.1.0"));
        assertDoesNotThrow(() -> start(null));
    }

    @ParameterizedTest
    @CsvSource({"0.1.0, 0.1.0", "0.2.0, 0.1.0", "0.10.0, 0.9.0", "1.0, 0.9.9"})
    void a_program_starts_on_a_newer_schema_that_allows_it(String program, String oldest) {
        schemaIs(SchemaVersion.OURS + 1, oldest);
        assertDoesNotThrow(() -> start(program));
    }

    @ParameterizedTest
    @CsvSource({"0.1.0, 0.1.1", "0.9.0, 0.10.0", ", 0.1.0"})
    void a_program_does_not_start_on_a_newer_schema_that_it_is_too_old_for(
            @Nullable String program, String oldest) {
        schemaIs(SchemaVersion.OURS + 1, oldest);
        assertSays("needs Mintmark %s or newer".formatted(oldest), () -> start(program));
    }

    @Test
    void a_program_does_not_start_on_an_older_schema() {
        schemaIs(SchemaVersion.OURS - 1, "0.1.0");
        assertSays("run: mintmark migrate", () -> start("0.1.0"));
    }

    @Test
    void no_migration_runs_on_a_newer_schema() {
        database.close();
        database = TestDatabase.unmigrated();
        database.run(
                Who.OWNER,
                """
                SET ROLE mintmark_owner;
                CREATE SCHEMA runtime;
                CREATE TABLE runtime.schema_version (version int, oldest_program text);
                INSERT INTO runtime.schema_version VALUES (%d, '0.1.0')
                """
                        .formatted(SchemaVersion.OURS + 1));
        assertEquals(0, migrate(Who.OWNER));
        database.assertRows(
                Who.OWNER,
                """
                SELECT c.oid::regclass FROM pg_class AS c
                 WHERE c.relnamespace::regnamespace::text IN ('broker', 'audit', 'runtime')
                   AND c.relkind = 'r'
                """,
                "runtime.schema_version");
    }

    @Test
    void a_schema_from_before_a_release_is_to_be_made_anew() {
        database.runAsSuperuser("DROP TABLE runtime.schema_version");
        assertSays("delete .mintmark/postgres", () -> migrate(Who.OWNER));
        assertSays("delete .mintmark/postgres", () -> start("0.1.0"));
    }

    @Test
    void a_schema_of_other_migrations_is_to_be_made_anew() {
        database.runAsSuperuser(
                "UPDATE runtime.flyway_schema_history SET checksum = 1 WHERE version = '02'");
        assertSays("delete .mintmark/postgres", () -> migrate(Who.OWNER));
    }

    @Test
    void a_start_takes_the_schemas_word_for_its_version() {
        database.runAsSuperuser(
                "UPDATE runtime.flyway_schema_history SET checksum = 1 WHERE version = '02'");
        Migrations migrations =
                new Migrations(database.login(Who.OWNER), TestDatabase.ROLES, false);

        assertEquals(0, migrations.runIfOlder());
        schemaIs(SchemaVersion.OURS - 1, "0.1.0");
        assertSays("delete .mintmark/postgres", migrations::runIfOlder);
    }

    @Test
    void who_is_no_member_of_the_owners_role_does_not_migrate() {
        assertSays("is not a member of role 'mintmark_owner'", () -> migrate(Who.ADMIN));
    }
}
