package io.mintmark.base.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Roles;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

@Tag("every-postgres")
class MigrationsTest {
    @Test
    void what_runs_is_what_stands_in_the_tree() throws Exception {
        assertEquals(
                names(Path.of("db/migration")),
                names(
                        Path.of(
                                Objects.requireNonNull(
                                                Migrations.class.getResource("/db/migration"))
                                        .toURI())),
                "what an earlier build left behind would be applied: run mvn clean");
    }

    private static Set<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    @Test
    void everything_belongs_to_the_owners_role_whoever_migrated() {
        try (TestDatabase database = TestDatabase.migrated()) {
            assertEquals(
                    "",
                    String.join(
                            ",",
                            database.column(
                                    """
                                    SELECT c.oid::regclass
                                      FROM pg_class AS c
                                      JOIN pg_namespace AS n ON n.oid = c.relnamespace
                                     WHERE n.nspname IN ('broker', 'audit', 'log', 'runtime', 'work', 'internal')
                                       AND c.relowner <> 'mintmark_owner'::regrole
                                    """)));
        }
    }

    @Test
    void the_services_login_can_not_change_the_audit_log() {
        try (TestDatabase database = TestDatabase.migrated();
                Database connections = new Database(database.login(Who.APP))) {
            assertEquals(Optional.empty(), new LoginCheck(connections).power());
        }
    }

    @Test
    void the_owners_login_is_told_what_it_could_do_to_the_audit_log() {
        try (TestDatabase database = TestDatabase.migrated();
                Database connections = new Database(database.login(Who.OWNER))) {
            String power = new LoginCheck(connections).power().orElseThrow();
            assertTrue(power.contains("owns the audit log"), power);
        }
    }

    @Test
    void one_login_can_do_without_the_roles_if_it_may_own_everything() {
        try (TestDatabase database = TestDatabase.unmigrated()) {
            database.runAsSuperuser(
                    "CREATE ROLE lone_%s LOGIN PASSWORD 'for-tests'".formatted(database.name()));
            database.runAsSuperuser(
                    "GRANT CREATE ON DATABASE %1$s TO lone_%1$s".formatted(database.name()));
            DatabaseLogin lone =
                    new DatabaseLogin(
                            database.url(),
                            "lone_" + database.name(),
                            () -> Optional.of("for-tests"));
            Roles none =
                    new Roles(
                            "no_owner",
                            "no_app",
                            "no_admin",
                            "no_tenant",
                            "no_auditor",
                            "no_console");
            assertTrue(new Migrations(lone, none, true).run() > 0);
        }
    }

    @Test
    void a_second_run_finds_nothing_to_do() {
        try (TestDatabase database = TestDatabase.migrated()) {
            assertEquals(
                    0, new Migrations(database.login(Who.OWNER), TestDatabase.ROLES, false).run());
        }
    }

    /** What a superuser's DROP OWNED BY takes away, which also revokes privileges. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "DROP OWNED BY mintmark_tenant_admin",
                "DROP OWNED BY mintmark_app, mintmark_auditor, mintmark_console",
                "REVOKE SELECT ON broker.key FROM mintmark_auditor",
                "REVOKE UPDATE (enabled) ON broker.key FROM mintmark_tenant_admin",
                "GRANT INSERT ON log.config_change TO mintmark_admin",
                "DROP POLICY auditors_read_every_row ON broker.key",
                "ALTER POLICY auditors_read_every_row ON broker.key USING (false)"
            })
    void what_was_taken_away_by_hand_is_named_by_check_and_restored_at_the_next_start(String sql) {
        try (TestDatabase database = TestDatabase.migrated()) {
            database.runAsSuperuser(sql);
            SchemaCheck check = new SchemaCheck(database.login(Who.OWNER));
            assertFalse(check.differences(TestDatabase.ROLES).isEmpty());

            var _ =
                    new Migrations(database.login(Who.OWNER), TestDatabase.ROLES, false)
                            .runIfOlder();

            assertEquals(List.of(), check.differences(TestDatabase.ROLES));
        }
    }

    @Test
    void tenant_admins_may_be_kept_from_deleting() {
        try (TestDatabase database = TestDatabase.migrated()) {
            database.runAsSuperuser(
                    """
                    REVOKE DELETE ON broker.key, broker.subject_grant, broker.blocked_subject, broker.access_rule, broker.access_approver
                      FROM mintmark_tenant_admin
                    """);
            assertEquals(
                    List.of(),
                    new SchemaCheck(database.login(Who.AUDITOR)).differences(TestDatabase.ROLES));
            var _ =
                    new Migrations(database.login(Who.OWNER), TestDatabase.ROLES, false)
                            .runIfOlder();
            database.assertRows(
                    "SELECT has_table_privilege('mintmark_tenant_admin', 'broker.key', 'DELETE')",
                    "f");
        }
    }

    @Test
    void a_repeatable_file_that_has_changed_runs_again() {
        try (TestDatabase database = TestDatabase.migrated()) {
            database.runAsSuperuser(
                    """
                    DROP FUNCTION broker.revision(text);
                    UPDATE runtime.flyway_schema_history SET checksum = 1
                     WHERE description IN ('02 change history', '90 privileges')
                    """);
            assertEquals(
                    2, new Migrations(database.login(Who.OWNER), TestDatabase.ROLES, false).run());
            database.assertRows("SELECT broker.revision('acme')", "0");
        }
    }

    @Test
    void a_repeatable_file_may_be_renamed() {
        try (TestDatabase database = TestDatabase.migrated()) {
            database.runAsSuperuser(
                    "UPDATE runtime.flyway_schema_history SET description = '03 comparing' WHERE"
                            + " description = '03 matching'");
            assertEquals(
                    1, new Migrations(database.login(Who.OWNER), TestDatabase.ROLES, false).run());
        }
    }
}
