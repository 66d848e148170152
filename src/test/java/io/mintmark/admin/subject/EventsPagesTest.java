package io.mintmark.admin.subject;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Documented;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The pages of docs/events and docs/migrate work step by step, beside the recipes that set a tenant
 * up.
 */
class EventsPagesTest {
    private static final List<String> FOLDERS = List.of("events", "migrate");
    private static final String INDEX = "README.md";
    private static final List<String> SETTING_UP =
            List.of(
                    "onboard_tenant",
                    "provider_aws",
                    "issuer_github_actions",
                    "issuer_keycloak",
                    "grants");

    /** The login of the page about somebody who leaves, and what that person had. */
    private static final String GRACE =
            """
            INSERT INTO broker.subject_grant (tenant, idp, subject, key, owner, reason)
            VALUES ('acme', 'acme-keycloak', '9c1f4a63-7b63-4d2f-8d4c-1b2c3d4e5f60', 'deploy', 'grace', 'OPS-6: Grace');
            INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access)
            VALUES ('acme', 'deploy', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 14400);
            INSERT INTO broker.access_approver (rule, idp, subject)
            SELECT id, 'acme-keycloak', '9c1f4a63-7b63-4d2f-8d4c-1b2c3d4e5f60' FROM broker.access_rule;
            INSERT INTO broker.console_access (tenant, claim, value) VALUES ('acme', 'email', '"grace@acme.example"');
            """;

    /** A job of the main branch, and the claims that its grant asks for. */
    private static final String DEPLOYS =
            """
            SELECT granted FROM broker.explain('acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/main',
                '{"repository_owner_id": "1234567", "repository_id": "7654321",
                  "ref": "refs/heads/main", "event_name": "push"}') WHERE key = 'deploy'
            """;

    private static TestDatabase template;

    @BeforeAll
    static void setUp() {
        template = TestDatabase.migrated();
        SETTING_UP.forEach(recipe -> template.admin(Documented.recipe(recipe)));
        template.admin(GRACE);
    }

    @AfterAll
    static void close() {
        template.close();
    }

    static Stream<String> pages() throws IOException {
        List<String> pages = new ArrayList<>();
        for (String folder : FOLDERS) {
            try (Stream<Path> files = Files.list(Path.of("docs", folder))) {
                files.map(file -> file.getFileName().toString())
                        .filter(name -> !name.equals(INDEX))
                        .map(name -> folder + "/" + name)
                        .sorted()
                        .forEach(pages::add);
            }
        }
        return pages.stream();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void each_statement_of_a_page_is_accepted(String page) {
        try (TestDatabase database = template.copy()) {
            Documented.blocks(page, "sql").forEach(database::admin);
        }
    }

    @Test
    void an_auditor_may_run_each_query_of_the_runbook() throws IOException {
        String runbook = Files.readString(Path.of("docs", "monitoring", "README.md"));
        List<String> queries =
                Pattern.compile("psql \"[$]DATABASE\" -c (['\"])(.*?)\\1", Pattern.DOTALL)
                        .matcher(runbook)
                        .results()
                        .map(query -> query.group(2))
                        .toList();
        assertTrue(queries.size() > 5, queries::toString);
        queries.forEach(query -> template.column(Who.AUDITOR, query));
    }

    @Test
    void who_left_can_mint_nothing_approve_nothing_and_look_at_nothing() {
        try (TestDatabase database = template.copy()) {
            String granted =
                    "SELECT count(*) FROM broker.explain('acme-keycloak', '9c1f4a63-7b63-4d2f-8d4c-1b2c3d4e5f60', '{}')"
                            + " WHERE granted";
            assertEquals("1", database.value(granted));
            Documented.blocks("events/somebody-leaves.md", "sql").forEach(database::admin);
            assertEquals("0", database.value(granted));
            for (String table : List.of("access_approver", "console_access WHERE enabled")) {
                assertEquals("0", database.value("SELECT count(*) FROM broker." + table));
            }
        }
    }

    @Test
    void a_renamed_repository_mints_before_and_after_by_its_id() {
        try (TestDatabase database = template.copy()) {
            Documented.blocks("events/repository-renamed.md", "sql").forEach(database::admin);
            for (String name : List.of("shop", "store")) {
                assertEquals(
                        "t",
                        database.value(
                                """
                                SELECT granted FROM broker.explain('acme-github',
                                    'repo:acme@1234567/%s@7654321:ref:refs/heads/main',
                                    '{"repository_owner_id": "1234567", "repository_id": "7654321",
                                      "ref": "refs/heads/main", "event_name": "push"}') WHERE key = 'deploy'
                                """
                                        .formatted(name)));
            }
        }
    }

    @Test
    void a_deleted_grant_is_written_again_and_a_changed_one_is_as_it_was() {
        try (TestDatabase database = template.copy()) {
            String grants =
                    """
                    SELECT string_agg(concat_ws(' ', idp, subject, match, key, claims, reason, owner, enabled), '; ' ORDER BY subject, key, claims)
                      FROM broker.subject_grant
                    """;
            String before = database.value(grants);
            assertEquals("t", database.value(DEPLOYS));
            List<String> statements = Documented.blocks("events/rows-deleted.md", "sql");
            database.admin("DELETE FROM broker.subject_grant WHERE tenant = 'acme'");
            assertEquals("f", database.value(DEPLOYS));
            database.admin(statements.get(1).replace("BETWEEN 17 AND 19", "> 0"));
            assertEquals(before, database.value(grants));
            database.admin(
                    """
                    UPDATE broker.subject_grant SET claims = claims || '{"ref": "refs/heads/next"}' WHERE claims ? 'repository_id'
                    """);
            assertNotEquals(before, database.value(grants));
            database.admin(statements.getLast().replace("= 20", "> 0"));
            assertEquals(before, database.value(grants));
        }
    }

    @Test
    void a_freeze_stops_deploys_and_its_end_lets_them_in_again() {
        try (TestDatabase database = template.copy()) {
            List<String> shown = new ArrayList<>();
            for (String statement : Documented.blocks("events/change-freeze.md", "sql")) {
                database.admin(statement);
                shown.add(database.value(DEPLOYS));
            }
            assertEquals(List.of("f", "t", "f", "t"), shown);
        }
    }

    @Test
    void a_tenant_that_floods_the_log_and_its_job_come_first_and_the_limit_is_set_and_removed() {
        try (TestDatabase database = template.copy()) {
            List<String> statements = Documented.blocks("events/tenant-floods.md", "sql");
            AuditRows.append(database, "here/1", List.of(AuditRows.rejected()));
            AuditRows.append(database, "here/1", AuditRows.mint("ci:main", "{}"));
            for (int row = 0; row < 3; row++) {
                AuditRows.append(database, "here/1", List.of(AuditRows.denied("ci:loop")));
            }
            assertEquals(
                    List.of("acme, 5, 1, 3, 0", "(none), 1, 0, 0, 1"),
                    database.column(
                            "SELECT concat_ws(', ', tenant, rows, mints, denied, rejected) FROM (%s) AS shown"
                                    .formatted(statements.get(0).replace(";", ""))));
            assertEquals(
                    List.of(
                            "denied, ci:loop, deploy, not_granted, 10.0.0.1, 3",
                            "requested, ci:main, deploy, 2001:db8::7, 1"),
                    database.column(
                            "SELECT concat_ws(', ', kind, subject, key, reason, client_address, count) FROM (%s) AS shown"
                                    .formatted(statements.get(1).replace(";", ""))));
            String limit = "SELECT max_requests FROM broker.tenant WHERE name = 'acme'";
            database.admin(statements.get(2));
            assertEquals("300", database.value(limit));
            database.admin(statements.getLast());
            assertEquals("", String.join("", database.column(limit + " AND max_requests > 0")));
        }
    }

    @Test
    void what_a_replica_that_was_taken_over_minted_is_listed_and_ended() {
        List<String> statements = Documented.blocks("events/replica-taken-over.md", "sql");
        String[] minted = statements.get(2).split(";", -1);
        String[] wrote = statements.get(3).split(";", -1);
        try (TestDatabase database = template.copy()) {
            for (String type : List.of("postgresql", "aws-sts")) {
                for (String replica : List.of("replica1/1a2b3c4d", "replica10/5e6f7a8b")) {
                    AuditRows.append(
                            database, replica, AuditRows.mint("orders", type, replica, true));
                }
            }
            assertEquals(
                    List.of("aws-sts, replica1/1a2b3c4d", "postgresql, replica1/1a2b3c4d"),
                    database.column(
                            "SELECT concat_ws(', ', provider_type, credential_id) FROM (%s) AS shown ORDER BY 1"
                                    .formatted(since(minted[0]))));
            database.admin(since(minted[1]));
            assertEquals(
                    List.of("postgresql"),
                    database.column("SELECT provider_type FROM broker.ended_credential"));
            assertEquals(
                    List.of("replica1/1a2b3c4d, 4", "replica10/5e6f7a8b, 4"),
                    database.column(
                            "SELECT concat_ws(', ', broker, count) FROM (%s) AS shown ORDER BY 1"
                                    .formatted(since(wrote[0]))));
        }
    }

    private static String since(String statement) {
        return statement.replace("'2026-11-28 14:00Z'", "now() - interval '1 hour'");
    }

    /** The page on floods leads there; an auditor may not name the partitions' schema. */
    @Test
    void the_size_of_each_month_of_the_log_is_listed_to_an_auditor() {
        try (TestDatabase database = template.copy()) {
            List<String> months =
                    database.column(Documented.blocks("run/database-care.md", "sql").getFirst());
            assertTrue(months.size() > 1, months::toString);
            assertTrue(
                    months.stream().allMatch(month -> month.matches("event_[0-9_]{7}")),
                    months::toString);
        }
    }

    @Test
    void a_moved_role_of_vault_lets_the_same_job_in() {
        List<String> statements = Documented.blocks("migrate/vault.md", "sql");
        try (TestDatabase database = template.copy()) {
            String explain = statements.getLast().replace(";", "");
            String granted = "SELECT granted FROM (" + explain + ") AS shown";
            assertEquals("", String.join("", database.column(granted)));
            database.admin(statements.getFirst());
            assertEquals("t", database.value(granted));
        }
    }

    @Test
    void the_index_names_each_page() throws IOException {
        for (String folder : FOLDERS) {
            String index = Files.readString(Path.of("docs", folder, INDEX));
            pages().filter(page -> page.startsWith(folder))
                    .map(page -> page.substring(folder.length() + 1))
                    .forEach(page -> assertTrue(index.contains("(" + page + ")"), page));
        }
    }
}
