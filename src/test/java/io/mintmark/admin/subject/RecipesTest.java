package io.mintmark.admin.subject;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Every recipe works, in the order in which an admin would follow them. */
@Tag("every-postgres")
class RecipesTest {
    private static final Path DIRECTORY = Path.of("db", "recipes");
    static final List<String> SETTING_UP =
            List.of(
                    "onboard_tenant",
                    "provider_aws",
                    "provider_aws_ambient",
                    "provider_shared_identity",
                    "provider_s3",
                    "provider_google",
                    "provider_azure",
                    "provider_oauth2",
                    "provider_openai",
                    "provider_anthropic",
                    "provider_openrouter",
                    "provider_tailscale",
                    "provider_octopus",
                    "provider_databricks",
                    "provider_github",
                    "provider_kubernetes",
                    "provider_ssh",
                    "provider_x509",
                    "provider_jwt",
                    "provider_rabbitmq",
                    "provider_postgresql",
                    "provider_webhook",
                    "issuer_github_actions",
                    "issuer_gitlab",
                    "issuer_kubernetes",
                    "issuer_google",
                    "issuer_entra",
                    "issuer_keycloak",
                    "issuer_buildkite",
                    "issuer_oidc",
                    "grants",
                    "temporary_access",
                    "who_can_mint",
                    "who_could_mint",
                    "agents",
                    "approvals");

    /** All tables with rows of one tenant but those whose rows are never deleted. */
    private static final String CONFIGURATION_OF_A_TENANT =
            """
            SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant'
             WHERE c.relnamespace = 'broker'::regnamespace AND c.relkind = 'r'
               AND c.relname <> ALL ('{access_request,access_decision,grant_review,ended_credential}')
             ORDER BY 1\
            """;

    /** Without it, psql prints the names of triggers below each error. */
    private static final String PSQL_ONLY = "\n\\set SHOW_CONTEXT never\n";

    /** Identity provider, subject, claims, and the keys that are granted then. */
    private record Grantee(String idp, String subject, String claims, String keys) {}

    private static final List<Grantee> GRANTEES =
            List.of(
                    new Grantee(
                            "acme-github",
                            "repo:acme/shop:ref:refs/heads/main",
                            "{\"repository_owner_id\": \"1234567\", \"event_name\": \"push\"}",
                            "deploy"),
                    new Grantee(
                            "acme-github",
                            "repo:acme@1234567/shop@7654321:ref:refs/heads/main",
                            "{\"repository_owner_id\": \"1234567\", \"repository_id\": \"7654321\","
                                    + " \"ref\": \"refs/heads/main\", \"event_name\": \"push\"}",
                            "deploy,read"),
                    new Grantee(
                            "acme-github",
                            "repo:acme@1234567/other@7654321:ref:refs/heads/main",
                            "{\"repository_owner_id\": \"1234567\", \"repository_id\": \"7654321\","
                                    + " \"ref\": \"refs/heads/main\","
                                    + " \"event_name\": \"pull_request_target\"}",
                            ""),
                    new Grantee(
                            "acme-github",
                            "repo:acme/shop:environment:production",
                            "{\"repository_owner_id\": \"1234567\", \"repository_id\": \"7654321\","
                                    + " \"environment\": \"production\"}",
                            "deploy"),
                    new Grantee(
                            "acme-github",
                            "repo:acme/shop:ref:refs/heads/main",
                            "{\"repository_owner_id\": \"666\", \"repository_id\": \"7654321\"}",
                            ""),
                    new Grantee(
                            "acme-gitlab",
                            "project_path:acme/shop:ref_type:branch:ref:main",
                            "{\"namespace_id\": \"4242\", \"project_id\": \"99\","
                                    + " \"ref_type\": \"branch\", \"ref_protected\": \"true\"}",
                            "deploy"),
                    new Grantee(
                            "acme-cluster",
                            "system:serviceaccount:shop:deployer",
                            "{\"kubernetes.io\": {\"namespace\": \"shop\", \"serviceaccount\":"
                                    + " {\"uid\": \"8b7a6c5d-0001-4e2f-9a3b-4c5d6e7f8091\"}}}",
                            "deploy,read"),
                    new Grantee(
                            "acme-cluster",
                            "system:serviceaccount:shop:deployer",
                            "{\"kubernetes.io\": {\"namespace\": \"shop\", \"serviceaccount\":"
                                    + " {\"uid\": \"another\"}}}",
                            "read"),
                    new Grantee(
                            "acme-google",
                            "112233445566778899000",
                            "{\"sub\": \"112233445566778899000\", \"email_verified\": true}",
                            "deploy"),
                    new Grantee(
                            "acme-entra",
                            "99999999-8888-7777-6666-555555555555",
                            "{\"oid\": \"99999999-8888-7777-6666-555555555555\"}",
                            "deploy"),
                    new Grantee(
                            "acme-keycloak",
                            "2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e",
                            "{\"realm_access\": {\"roles\": [\"dev\", \"ops\"]}}",
                            "deploy"),
                    new Grantee(
                            "acme-buildkite",
                            "organization:acme:pipeline:shop:ref:refs/heads/main:commit:f00:step:x",
                            "{\"organization_id\": \"0184990a-477b-4fa8-9968-496074483cee\","
                                    + " \"pipeline_id\": \"0184990a-477b-4fa8-9968-496074483ca1\","
                                    + " \"build_branch\": \"main\"}",
                            "deploy"),
                    new Grantee("acme-ci", "job:release", "{\"branch\": \"main\"}", "deploy"),
                    new Grantee(
                            "acme-github",
                            "repo:acme@1234567/shop@7654321:ref:refs/heads/next",
                            "{\"repository_owner_id\": \"1234567\"}",
                            "read"));

    @Test
    void recipes_of_issuers_say_what_listed_shows_and_choose() throws IOException {
        int issuers = 0;
        for (Path file : recipes()) {
            String recipe = Files.readString(file);
            for (String row : recipe.split("INSERT INTO broker.identity_provider", -1)) {
                if (row.startsWith(" (")) {
                    issuers++;
                    String statement = row.substring(0, row.indexOf(");", row.indexOf("VALUES")));
                    assertTrue(statement.contains("listed)"), statement);
                    assertTrue(statement.matches("(?s).*\\s(true|false)"), statement);
                    assertTrue(recipe.contains("-- listed: true shows"), file.toString());
                }
            }
        }
        assertTrue(issuers >= 9, "only %d rows were looked at".formatted(issuers));
    }

    private static List<Path> recipes() throws IOException {
        try (Stream<Path> files = Files.list(DIRECTORY)) {
            return files.sorted().toList();
        }
    }

    @Test
    void they_do_what_they_say() throws IOException {
        try (TestDatabase database = TestDatabase.migrated()) {
            for (String recipe : SETTING_UP) {
                run(database, recipe);
            }
            assertAll(GRANTEES.stream().map(grantee -> () -> check(database, grantee)));
            database.assertRows(
                    "SELECT rule || name FROM broker.lint WHERE table_name <> 'tenant_admin'");
            run(database, "block_subject");
            assertEquals("", keys(database, GRANTEES.getFirst()));
            database.admin("DELETE FROM broker.blocked_subject");
            run(database, "revoke_subject");
            check(database, new Grantee("acme-github", GRANTEES.getFirst().subject(), "{}", ""));
            database.admin(
                    """
                    INSERT INTO broker.console_access (tenant, claim, value) VALUES ('acme', 'sub', '"x"');
                    INSERT INTO broker.blocked_subject (tenant, subject, reason)
                    VALUES ('acme', 'repo:acme/old:ref:refs/heads/main', 'INC-7: leaked');
                    INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access)
                    VALUES ('acme', 'deploy', 'acme-keycloak', 'user:**', 'glob', 3600);
                    INSERT INTO broker.access_approver (rule, idp, subject)
                    SELECT id, 'acme-keycloak', 'user:lea' FROM broker.access_rule WHERE key = 'deploy'\
                    """);
            run(database, "offboard_tenant");
            database.assertRows("SELECT enabled FROM broker.tenant", "f");
            List<String> configuration = database.column(CONFIGURATION_OF_A_TENANT);
            assertTrue(configuration.contains("access_rule"), configuration.toString());
            for (String table : configuration) {
                database.assertRows("SELECT count(*) FROM broker." + table, "0");
            }
        }
    }

    @Test
    void a_file_of_grants_changes_nothing_when_it_is_run_again() throws IOException {
        try (TestDatabase database = TestDatabase.migrated()) {
            for (String recipe : SETTING_UP) {
                run(database, recipe);
            }
            String revision = "SELECT broker.revision('acme')";
            List<String> before = database.column(revision);
            run(database, "grants");
            assertEquals(before, database.column(revision));
            database.assertRows(
                    "SELECT max_duration FROM broker.subject_grant"
                            + " WHERE reason LIKE 'OPS-11:%'",
                    "900");
        }
    }

    @Test
    void what_isnt_in_the_file_in_git_is_gone_and_what_is_in_it_is_there() throws IOException {
        try (TestDatabase database = TestDatabase.migrated()) {
            for (String recipe : SETTING_UP) {
                run(database, recipe);
            }
            String others =
                    "SELECT id FROM broker.subject_grant WHERE idp <> 'acme-github' ORDER BY id";
            List<String> before = database.column(others);
            run(database, "grants_in_git");
            database.assertRows(
                    "SELECT concat_ws(', ', reason, subject, max_duration) FROM"
                            + " broker.subject_grant WHERE idp = 'acme-github' ORDER BY subject",
                    "OPS-10: the manuals, repo:acme@1234567/docs-*:ref:refs/heads/main",
                    "OPS-1: main deploys, repo:acme@1234567/shop@7654321:ref:refs/heads/main",
                    "OPS-10: nightly builds, repo:acme@1234567/shop@7654321:ref:refs/heads/next, 900");
            assertEquals(before, database.column(others));
            String revision = "SELECT broker.revision('acme')";
            List<String> once = database.column(revision);
            run(database, "grants_in_git");
            assertEquals(once, database.column(revision), "a second time changes nothing");
        }
    }

    /** One after the other; none leaves a lint warning. */
    @Test
    void the_cookbook_of_admin_md_works_beside_them() throws IOException {
        String page = Files.readString(Path.of("docs", "admin.md"));
        String cookbook =
                page.substring(page.indexOf("\n## Cookbook"), page.indexOf("\n## Onboard"));
        List<String> statements =
                Stream.of(cookbook.split("```sql\n", -1))
                        .skip(1)
                        .map(block -> block.substring(0, block.indexOf("```")))
                        .toList();
        assertEquals(12, statements.size());
        try (TestDatabase database = TestDatabase.migrated()) {
            for (String recipe : SETTING_UP) {
                run(database, recipe);
            }
            statements.forEach(database::admin);
            database.assertRows(
                    "SELECT rule || name FROM broker.lint WHERE table_name <> 'tenant_admin'");
        }
    }

    /** At least fifteen for each type; not one in twenty may pass in silence. */
    @Test
    void likely_mistakes_beside_them_are_rejected_or_warned_of() throws IOException {
        List<SqlCase> mistakes = SqlCase.in("mistakes", "types");
        Map<String, Long> ofType =
                mistakes.stream()
                        .collect(
                                Collectors.groupingBy(
                                        one -> one.name().substring(0, one.name().indexOf(':')),
                                        Collectors.counting()));
        ofType.forEach((type, count) -> assertTrue(count >= 15, () -> type + ": " + count));
        long silent = mistakes.stream().filter(one -> one.message().equals("nothing")).count();
        assertTrue(silent * 20 < mistakes.size(), () -> silent + " are silent");
        try (TestDatabase database = TestDatabase.migrated()) {
            for (String recipe : SETTING_UP) {
                run(database, recipe);
            }
            assertEquals(
                    database.column("SELECT type FROM broker.provider_type ORDER BY type"),
                    ofType.keySet().stream()
                            .filter(type -> !type.equals("issuer") && !type.equals("grant"))
                            .sorted()
                            .toList());
            assertAll(mistakes.stream().map(one -> () -> one.checkTold(database, Who.ADMIN)));
        }
    }

    @Test
    void all_of_them_are_tried_here() throws IOException {
        try (Stream<Path> files = Files.list(DIRECTORY)) {
            assertEquals(
                    new TreeSet<>(
                            Stream.concat(
                                            SETTING_UP.stream(),
                                            Stream.of(
                                                    "block_subject",
                                                    "revoke_subject",
                                                    "offboard_tenant",
                                                    "grants_in_git"))
                                    .map(name -> name + ".sql")
                                    .toList()),
                    files.map(file -> Objects.requireNonNull(file.getFileName()).toString())
                            .collect(Collectors.toCollection(TreeSet::new)));
        }
    }

    static void run(TestDatabase database, String recipe) throws IOException {
        database.admin(sql(recipe));
    }

    static String sql(String recipe) throws IOException {
        String sql = Files.readString(DIRECTORY.resolve(recipe + ".sql"));
        assertTrue(sql.contains(PSQL_ONLY), recipe + " does not hide the context of errors");
        return sql.replace(PSQL_ONLY, "\n");
    }

    private static void check(TestDatabase database, Grantee grantee) {
        assertEquals(grantee.keys(), keys(database, grantee), grantee.toString());
    }

    private static String keys(TestDatabase database, Grantee grantee) {
        return String.join(
                ",",
                database.column(
                        "SELECT key FROM broker.explain('%s', '%s', '%s') WHERE granted"
                                .formatted(grantee.idp(), grantee.subject(), grantee.claims())));
    }
}
