package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;

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
                INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'own', 'jwt', '{}'), ('third', 'own', 'jwt', '{}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'api', 'own', 600, '{"audience": "https://api.example.com"}'),
                       ('third', 'api', 'own', 600, '{"audience": "https://api.example.com"}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, actor_idp, actor, max_duration, valid_until, reason)
                VALUES ('acme', 'ci', 'wide', 'exact', 'deploy', '{}', NULL, NULL, NULL, NULL, 'OPS-1'),
                       ('acme', 'ci', 'wide', 'exact', 'deploy', '{"env": "prod"}', NULL, NULL, NULL, NULL, 'OPS-1'),
                       ('acme', 'ci', 'some', 'exact', 'deploy', '{"env": "prod"}', NULL, NULL, NULL, NULL, 'OPS-1'),
                       ('acme', 'ci', 'less', 'exact', 'deploy', '{}', NULL, NULL, 1800, NULL, 'OPS-1'),
                       ('acme', 'ci', 'less', 'exact', 'deploy', '{"env": "prod"}', NULL, NULL, NULL, NULL, 'OPS-1'),
                       ('acme', 'ci', 'soon', 'exact', 'deploy', '{}', NULL, NULL, NULL, now() + interval '10 minutes', 'OPS-1'),
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

    @ParameterizedTest
    @ValueSource(
            strings = {
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
                "UPDATE broker.identity_provider SET required_claims = '{\"org\": \"third\", \"team\": \"a\"}' WHERE name = 'third'",
                "UPDATE broker.identity_provider SET required_claims = '{\"org\": \"third\", \"team\": \"a\"}' WHERE name = 'third';"
                        + "UPDATE broker.shared_issuer SET owner_claims = '{org,team}' WHERE issuer LIKE '%.third.example/'",
                "UPDATE broker.identity_provider SET required_claims = '{\"org\": \"third\", \"team\": \"a\"}' WHERE name = 'third';"
                        + "UPDATE broker.shared_issuer SET owner_claims = '{org,team}' WHERE issuer LIKE '%.third.example/';"
                        + "DELETE FROM broker.shared_issuer WHERE issuer LIKE '%.third.example/'"
            })
    void after(String edits) {
        database.admin(edits);
        assertEquals(database.column(FOUND), database.column(STORED));
    }
}
