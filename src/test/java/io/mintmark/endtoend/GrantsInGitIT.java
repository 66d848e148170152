package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;

/**
 * The pipeline of docs/tenants/grants-in-git.md with nothing but psql and a tenant admin's login.
 * Run by {@code .ci/restore}, since it needs PostgreSQL's own programs.
 */
class GrantsInGitIT {
    private static final Path RECIPES = Path.of("db", "recipes");
    private static final String GRANTS =
            "SELECT concat_ws(' ', key, subject) FROM broker.subject_grant WHERE idp = 'acme-github' ORDER BY subject";

    @TempDir private Path directory;
    @AutoClose private PostgresCluster cluster;

    @BeforeEach
    void aTenantWithAGrant() throws IOException {
        cluster = PostgresCluster.created(directory.resolve("data"));
        cluster.start(Map.of());
        ServedCluster.prepare(cluster);
        RunningBroker.at(cluster.url(), Map.of()).close(); // migrates
        cluster.run("CREATE ROLE alice LOGIN IN ROLE mintmark_tenant_admin");
        for (String recipe : List.of("onboard_tenant", "provider_aws", "issuer_github_actions")) {
            cluster.run(
                    Files.readString(RECIPES.resolve(recipe + ".sql"))
                            .replace("\\set SHOW_CONTEXT never\n", ""));
        }
        cluster.run("DELETE FROM broker.subject_grant");
        cluster.run(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
                VALUES ('acme', 'acme-github', 'repo:acme/old:ref:refs/heads/main', 'read', 'OPS-0')
                """);
    }

    private Path file(String name, String sql) throws IOException {
        return Files.writeString(directory.resolve(name), sql);
    }

    private static String recipe() throws IOException {
        return Files.readString(RECIPES.resolve("grants_in_git.sql"));
    }

    private String refused(Path file, String... options) {
        return String.valueOf(
                assertThrows(
                                IllegalStateException.class,
                                () -> cluster.psql("alice", file, options))
                        .getMessage());
    }

    @Test
    void a_plan_shows_what_the_file_would_change_and_changes_nothing() throws IOException {
        cluster.psql(
                "alice",
                file(
                        "other.sql",
                        "INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration, reason)"
                                + " VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/next', 'read', 1200, 'OPS-9')"));
        List<String> planned = planned(file("plan.sql", plan()));
        assertEquals(
                List.of(
                        "DELETE|read|exact|repo:acme/old:ref:refs/heads/main|{}|||",
                        "INSERT|deploy|exact|repo:acme@1234567/shop@7654321:ref:refs/heads/main|{\"event_name\": \"push\"}|||",
                        "INSERT|read|glob|repo:acme@1234567/docs-*:ref:refs/heads/main|{\"event_name\": \"push\", \"repository_owner_id\": \"1234567\"}|||",
                        "UPDATE|read|exact|repo:acme@1234567/shop@7654321:ref:refs/heads/next|{}|||max_duration: 1200 -> 900, reason: OPS-9 -> OPS-10: nightly builds"),
                planned);
        cluster.assertRows(
                GRANTS,
                "read repo:acme/old:ref:refs/heads/main",
                "read repo:acme@1234567/shop@7654321:ref:refs/heads/next");
    }

    /** As the page says: with the file's own rows replaced by the page's example. */
    @Test
    void grants_with_an_actor_are_planned_applied_and_compared() throws IOException {
        cluster.run(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('acme-agents', 'acme', 'https://agents.acme.example', '{mintmark-acme}', '{actor}')
                """);
        String row =
                Documented.blocks("tenants/grants-in-git.md", "sql").stream()
                        .filter(block -> block.contains("actor_claims"))
                        .findFirst()
                        .orElseThrow();
        Path grants =
                file(
                        "actors.sql",
                        recipe().replaceFirst(
                                        "(?s)INSERT INTO wanted.*?;\n",
                                        Matcher.quoteReplacement(row)));
        Path plan = file("actors-plan.sql", plan(grants));
        String pair =
                "deploy|exact|repo:acme@1234567/shop@7654321:ref:refs/heads/main|{}|acme-agents agent:release-bot {\"team\": \"release\"}|";
        assertEquals(
                List.of(
                        "DELETE|read|exact|repo:acme/old:ref:refs/heads/main|{}|||",
                        "INSERT|" + pair + "|"),
                planned(plan));

        cluster.psql("alice", grants, "-1");
        assertEquals("", cluster.psql("alice", plan), "no drift");

        cluster.run("UPDATE broker.subject_grant SET actor_claims = '{}', max_duration = 900");
        assertEquals(
                List.of(
                        "DELETE|" + pair.replace(" {\"team\": \"release\"}", "") + "|",
                        "INSERT|" + pair + "|"),
                planned(plan));
        cluster.psql("alice", grants, "-1");
        cluster.assertRows(
                "SELECT concat_ws(' ', subject, actor_idp, actor, actor_match, actor_claims) FROM broker.subject_grant",
                "repo:acme@1234567/shop@7654321:ref:refs/heads/main acme-agents agent:release-bot exact {\"team\": \"release\"}");
    }

    @Test
    void what_approvers_granted_is_not_the_files() throws IOException {
        cluster.run(
                """
                INSERT INTO broker.access_rule (tenant, key, idp, subject, approvals, max_access, break_glass)
                VALUES ('acme', 'read', 'acme-github', 'repo:acme/ops:ref:refs/heads/main', 0, 3600, true);
                SELECT internal.request_access('acme', 'acme-github', 'repo:acme/ops:ref:refs/heads/main',
                       '{"repository_owner_id": "1234567"}', NULL, NULL,
                       '{read}', 'to mend incident 7', 1800, true)
                """);
        cluster.psql("alice", RECIPES.resolve("grants_in_git.sql"), "-1");
        cluster.assertRows(
                "SELECT concat_ws(' ', key, subject, enabled) FROM broker.subject_grant WHERE request_id IS NOT NULL",
                "read repo:acme/ops:ref:refs/heads/main t");
    }

    /** The page's. */
    private static String plan() throws IOException {
        return plan(RECIPES.resolve("grants_in_git.sql"));
    }

    /** What a plan prints beside the warnings of lint. */
    private List<String> planned(Path plan) {
        return cluster.psql("alice", plan)
                .lines()
                .filter(line -> !line.startsWith("psql:"))
                .sorted()
                .toList();
    }

    private static String plan(Path grants) throws IOException {
        return Files.readString(Path.of("docs", "tenants", "plan.sql"))
                .replace("\\i grants_in_git.sql", "\\i " + grants.toAbsolutePath());
    }

    @Test
    void the_file_is_applied_as_a_whole() throws IOException {
        cluster.psql("alice", RECIPES.resolve("grants_in_git.sql"), "-1");
        cluster.assertRows(
                GRANTS,
                "read repo:acme@1234567/docs-*:ref:refs/heads/main",
                "deploy repo:acme@1234567/shop@7654321:ref:refs/heads/main",
                "read repo:acme@1234567/shop@7654321:ref:refs/heads/next");
    }

    @Test
    void one_wrong_row_fails_the_pipeline_and_nothing_counts() throws IOException {
        String wrong = recipe().replace("'exact', 'deploy'", "'exact', 'depoly'");
        String said = refused(file("wrong.sql", wrong), "-1");
        assertTrue(said.startsWith("psql ended with 3"), said);
        assertTrue(said.contains("Tenant \"acme\" has no key \"depoly\"."), said);
        cluster.assertRows(GRANTS, "read repo:acme/old:ref:refs/heads/main");
    }

    @Test
    void without_one_transaction_it_stops_before_it_changes_anything() {
        String said = refused(RECIPES.resolve("grants_in_git.sql"));
        assertTrue(said.contains("relation \"wanted\" does not exist"), said);
        cluster.assertRows(GRANTS, "read repo:acme/old:ref:refs/heads/main");
    }

    @Test
    void a_line_of_a_table_that_is_there_twice_is_named_by_its_number() throws IOException {
        Path table =
                file(
                        "grants.csv",
                        "subject,match,key,max_duration,reason\nx,exact,read,,OPS-1\nx,exact,read,,OPS-2\n");
        String loading =
                recipe().replaceFirst(
                                "(?s)INSERT INTO wanted.*?;\n",
                                "\\\\copy wanted (subject, match, key, max_duration, reason) FROM '"
                                        + table
                                        + "' CSV HEADER\n");
        String said = refused(file("loading.sql", loading), "-1");
        assertTrue(said.contains("COPY wanted, line 3"), said);
    }
}
