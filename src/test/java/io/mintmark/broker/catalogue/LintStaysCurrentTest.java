package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.schema.Migrations;
import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What is stored of grants is what the rules find in them, whatever was changed around them. */
@Tag("every-postgres")
class LintStaysCurrentTest {
    private static final String STORED =
            "SELECT concat_ws(' ', f.id, f.rule, f.detail) FROM internal.lint_finding AS f"
                    + " WHERE f.table_name = 'subject_grant' ORDER BY 1";

    private static final String FOUND =
            """
            SELECT concat_ws(' ', f.id, f.rule, f.detail)
              FROM internal.lint_grants(ARRAY(SELECT g.id FROM broker.subject_grant AS g)) AS f ORDER BY 1
            """;

    /** What admins do. */
    private static final List<String> EDITS =
            List.of(
                    "DELETE FROM broker.subject_grant WHERE subject = 'wide' AND claims = '{}'",
                    "UPDATE broker.subject_grant SET subject = 'wider' WHERE subject = 'wide' AND claims = '{}'",
                    "UPDATE broker.subject_grant SET subject = 'some' WHERE subject = 'wide' AND claims = '{}'",
                    "UPDATE broker.subject_grant SET match = 'glob' WHERE subject = 'wide' AND claims = '{}'",
                    "UPDATE broker.subject_grant SET enabled = false WHERE subject = 'wide' AND claims = '{}'",
                    "UPDATE broker.subject_grant SET idp = 'github' WHERE subject = 'wide' AND claims = '{}'",
                    "UPDATE broker.subject_grant SET key = 'api' WHERE subject = 'wide' AND claims = '{}'",
                    "INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'some', 'deploy', 'OPS-1')",
                    "UPDATE broker.key SET max_duration = 1800 WHERE name = 'deploy'",
                    "UPDATE broker.key SET max_duration = 900 WHERE name = 'deploy'",
                    "UPDATE broker.key SET provider = 'own', max_duration = 600, settings = '{\"audience\": \"https://d.example.com\"}' WHERE name = 'deploy'",
                    "UPDATE broker.identity_provider SET required_claims = '{\"repository_id\": \"8\"}' WHERE name = 'github'",
                    "UPDATE broker.identity_provider SET issuer = 'https://gitlab.com', required_claims = '{\"namespace_id\": \"1\"}', audiences = '{acme-9}' WHERE name = 'github'",
                    "UPDATE broker.identity_provider SET accepts = '{subject,actor}' WHERE name = 'agents'",
                    "UPDATE broker.identity_provider SET accepts = '{approver}' WHERE name = 'ci'",
                    "UPDATE broker.identity_provider SET jwks_uri = 'https://ci.example.com/openid/v1/jwks' WHERE name = 'ci'",
                    "UPDATE broker.identity_provider SET required_claims = '{\"org\": \"third\", \"team\": \"a\"}' WHERE name = 'third'",
                    "UPDATE broker.identity_provider SET required_claims = '{\"org\": \"third\", \"team\": \"a\"}' WHERE name = 'third';"
                            + "UPDATE broker.shared_issuer SET owner_claims = '{org,team}' WHERE issuer LIKE '%.third.example/'",
                    "UPDATE broker.identity_provider SET required_claims = '{\"org\": \"third\", \"team\": \"a\"}' WHERE name = 'third';"
                            + "UPDATE broker.shared_issuer SET owner_claims = '{org,team}' WHERE issuer LIKE '%.third.example/';"
                            + "DELETE FROM broker.shared_issuer WHERE issuer LIKE '%.third.example/'",
                    "UPDATE broker.identity_provider SET required_claims = '{\"org\": \"third\", \"team\": \"a\"}' WHERE name = 'third';"
                            + "UPDATE broker.shared_issuer SET owner_claims = '{org,team}', issuer = 'https://auth.third.example/2' WHERE issuer LIKE '%.third.example/'",
                    "UPDATE broker.access_provider SET type = 'gcp', settings = '{\"project_id\": \"acme\", \"workload_identity_provider\":"
                            + " \"//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/a\"}' WHERE name = 'auth'");

    private static final Pattern UPDATE = Pattern.compile("UPDATE broker\\.(\\w+) SET (.*?) WHERE");

    private static final Pattern COLUMN = Pattern.compile("(\\w+) = ");

    private static TestDatabase written;
    @AutoClose private TestDatabase database;

    @BeforeAll
    static void write() throws IOException {
        written = TestDatabase.migrated();
        written.admin(SqlCase.script("lint", "setup"));
        written.admin(
                """
                UPDATE broker.identity_provider SET required_claims = '{"org": "third"}' WHERE name = 'third';
                INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('https://auth.third.example/', '{org}');
                INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'own', 'jwt', '{}'), ('third', 'own', 'jwt', '{}'),
                       ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/oauth2/token"}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'api', 'own', 600, '{"audience": "https://api.example.com"}'),
                       ('third', 'api', 'own', 600, '{"audience": "https://api.example.com"}'),
                       ('acme', 'short', 'auth', 600, '{}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, actor_idp, actor, max_duration, valid_until, reason)
                VALUES ('acme', 'ci', 'wide', 'exact', 'deploy', '{}', NULL, NULL, NULL, NULL, 'OPS-1'),
                       ('acme', 'ci', 'wide', 'exact', 'deploy', '{"env": "prod"}', NULL, NULL, NULL, NULL, 'OPS-1'),
                       ('acme', 'ci', 'some', 'exact', 'deploy', '{"env": "prod"}', NULL, NULL, NULL, NULL, 'OPS-1'),
                       ('acme', 'ci', 'less', 'exact', 'deploy', '{}', NULL, NULL, 1800, NULL, 'OPS-1'),
                       ('acme', 'ci', 'less', 'exact', 'deploy', '{"env": "prod"}', NULL, NULL, NULL, NULL, 'OPS-1'),
                       ('acme', 'ci', 'soon', 'exact', 'deploy', '{}', NULL, NULL, NULL, now() + interval '10 minutes', 'OPS-1'),
                       ('acme', 'ci', 'soon', 'exact', 'short', '{}', NULL, NULL, NULL, now() + interval '30 seconds', 'OPS-1'),
                       ('acme', 'ci', 'acts', 'exact', 'deploy', '{}', 'agents', 'agent:1', NULL, NULL, 'OPS-1'),
                       ('acme', 'github', 'repo:acme/shop:ref:refs/heads/main', 'exact', 'deploy', '{"repository_id": "7"}', NULL, NULL, NULL, NULL, 'OPS-1'),
                       ('acme', 'github', 'repo:acme/*:**', 'glob', 'deploy', '{}', NULL, NULL, NULL, NULL, 'OPS-1'),
                       ('third', 'third', 'somebody', 'exact', 'api', '{"team": "b"}', NULL, NULL, NULL, NULL, 'OPS-1')
                """);
    }

    @AfterAll
    static void close() {
        written.close();
    }

    @BeforeEach
    void copy() {
        database = written.copy();
    }

    /** Asks PostgreSQL which columns the rules read: without the privilege for one, they fail. */
    @Test
    void each_column_of_other_tables_that_the_rules_read_is_changed_by_an_edit()
            throws IOException {
        database.runAsSuperuser(SqlCase.script("lint", "columns"));
        List<String> read = database.column("SELECT name FROM public.column_read ORDER BY name");
        assertTrue(read.contains("identity_provider.issuer"), read::toString);
        Set<String> changed =
                EDITS.stream()
                        .flatMap(edits -> UPDATE.matcher(edits).results())
                        .flatMap(update ->
                                COLUMN.matcher(update.group(2))
                                        .results()
                                        .map(column -> update.group(1) + "." + column.group(1)))
                        .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(List.of(), read.stream().filter(column -> !changed.contains(column)).toList());
    }

    @ParameterizedTest
    @FieldSource("EDITS")
    void after(String edits) {
        database.admin(edits);
        assertEquals(database.column(FOUND), database.column(STORED));
    }

    /** A file of rules, of functions that they call, of provider types or of known issuers. */
    @Test
    void after_a_release_that_changes_any_file() {
        List<String> before = database.column(STORED);
        database.runAsSuperuser(
                """
                UPDATE broker.provider_type SET min_duration = 1 WHERE type = 'aws-sts';
                SELECT internal.keep_findings('subject_grant', ARRAY(SELECT g.id FROM broker.subject_grant AS g));
                UPDATE runtime.flyway_schema_history SET checksum = 1
                 WHERE script IN ('R__47_provider_types.sql', 'R__98_lint_findings.sql', 'R__99_schema_version.sql')
                """);
        assertNotEquals(before, database.column(STORED));
        new Migrations(database.login(Who.OWNER), TestDatabase.ROLES, false).run();
        assertEquals(before, database.column(STORED));
    }

    /** So that it runs with each release, as the file that writes this version does. */
    @Test
    void the_file_that_lints_again_has_the_version_of_the_schema() throws IOException {
        assertTrue(
                Files.readString(Path.of("db", "migration", "R__98_lint_findings.sql"))
                        .contains("${schema_version}"));
    }

    @Test
    void a_key_is_listed_while_no_grant_and_no_rule_can_use_its_duration() {
        String of =
                "SELECT concat_ws(': ', name, rule, advice) FROM broker.lint WHERE rule ="
                        + " 'longer_than_its_grants'";
        database.admin(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'long', 'own', 3600, '{"audience": "https://long.example.com"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration, reason)
                VALUES ('acme', 'ci', 'job:a', 'long', 900, 'OPS-1'), ('acme', 'ci', 'job:b', 'long', 1800, 'OPS-2')
                """);
        database.assertRows(
                of,
                "long: longer_than_its_grants: The key allows 3600 seconds, but its grants allow"
                        + " 1800 at most. Lower the key's max_duration, or raise the max_duration of a grant.");
        database.admin(
                "UPDATE broker.subject_grant SET max_duration = NULL WHERE subject = 'job:a'");
        database.assertRows(of);
        database.admin(
                """
                UPDATE broker.subject_grant SET max_duration = 900 WHERE subject = 'job:a';
                INSERT INTO broker.access_rule (tenant, key, idp, subject, approvals, max_access, break_glass)
                VALUES ('acme', 'long', 'ci', 'job:c', 0, 3600, true)
                """);
        database.assertRows(of);
    }

    @Test
    void a_key_is_listed_while_its_tenant_allows_less() {
        String of = "SELECT name FROM broker.lint WHERE rule = 'longer_than_its_tenant'";
        database.assertRows(of);
        database.admin("UPDATE broker.tenant SET max_duration = 1800 WHERE name = 'acme'");
        database.assertRows(of, "deploy");
    }
}
