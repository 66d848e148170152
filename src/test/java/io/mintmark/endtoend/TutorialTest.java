package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.provider.sts.StsStandIn;

import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * What docs/tutorial.md says to run, in its order, with stand-ins for GitHub and AWS: the keys of
 * GitHub's issuer are the test's, and AWS's address is the stand-in's. All else is as on the page.
 */
class TutorialTest {
    private static final String PAGE = "tutorial.md";
    private static final String SUBJECT = "repo:acme@1234567/shop@7654321:ref:refs/heads/main";

    @Test
    void its_statements_lead_to_a_deploy_and_to_the_rows_that_it_shows() {
        try (TestDatabase database = TestDatabase.migrated();
                IssuerStandIn github = IssuerStandIn.start();
                RunningBroker broker = RunningBroker.on(database);
                StsStandIn aws = StsStandIn.aws(broker.url().toString(), broker::keySet)) {
            List<String> statements = Documented.blocks(PAGE, "sql");
            assertEquals(6, statements.size());
            statements.stream()
                    .filter(sql -> sql.contains("INSERT INTO"))
                    .forEach(sql -> database.admin(withStandIn(sql, aws)));
            database.admin(
                    "UPDATE broker.identity_provider SET jwks_uri = NULL, jwks = '%s'"
                            .formatted(github.jwks()));

            database.assertRows(query(statements, "broker.explain"), "deploy");
            Answer answer = broker.post(body(), "Authorization", "Bearer " + token(github));

            assertEquals(200, answer.status(), answer::toString);
            assertEquals("eu-central-1", answer.at("/credentials/deploy/AWS_REGION"));
            String mints = query(statements, "audit.mint");
            String mintId = database.value(mints);
            assertEquals(mintId, aws.calls().getFirst().parameters().get("RoleSessionName"));
            assertEquals(
                    SUBJECT + " deploy issued " + TestDatabase.Who.ADMIN.login(),
                    database.value(
                            "SELECT concat_ws(' ', subject, key, outcome, grant_made_by) FROM ("
                                    + mints.replace(";", "")
                                    + ") AS shown"));
        }
    }

    private static String withStandIn(String sql, StsStandIn aws) {
        return sql.replace(
                "{\"region\": \"eu-central-1\"}",
                "{\"region\": \"eu-central-1\", \"endpoint\": \"" + aws.endpoint() + "\"}");
    }

    private static String query(List<String> statements, String of) {
        return statements.stream().filter(sql -> sql.contains(of)).findFirst().orElseThrow();
    }

    /** The body of the page's request. */
    private static String body() {
        String request =
                Documented.blocks(PAGE, "sh").stream()
                        .filter(block -> block.contains("/credentials/mint"))
                        .findFirst()
                        .orElseThrow();
        return request.substring(request.indexOf("-d '") + 4, request.lastIndexOf('\''));
    }

    /** As GitHub signs it for a job on the main branch. */
    private static String token(IssuerStandIn github) {
        long now = Instant.now().getEpochSecond();
        return github.signExactly(
                Map.of(
                        "iss",
                        "https://token.actions.githubusercontent.com",
                        "aud",
                        "mintmark-acme",
                        "sub",
                        SUBJECT,
                        "repository_owner_id",
                        "1234567",
                        "repository_id",
                        "7654321",
                        "ref",
                        "refs/heads/main",
                        "event_name",
                        "push",
                        "iat",
                        now,
                        "exp",
                        now + 300));
    }
}
