package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/** What a tenant's subjects get while nobody has approved, or where nobody may. */
class MissingApprovalsTest {
    private static final String ALL = "/access-requests";
    private static final int FLOOD = 200;
    private static final int CLIENTS = 8;

    private static World world;

    @BeforeAll
    static void start() {
        world = new World();
        world.admin(
                """
                INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access)
                VALUES ('acme', 'spare', 'ci', 'ci:asks:*', 'glob', 1, 7200);
                INSERT INTO broker.access_approver (rule, idp, subject, match, claims)
                SELECT id, 'ci', 'lead:*', 'glob', '{"groups": "/leads"}' FROM broker.access_rule;
                UPDATE broker.tenant SET require_second_admin = true WHERE name = 'acme';
                INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'ci:new', 'spare')
                """);
    }

    @AfterAll
    static void stop() {
        world.close();
    }

    private static String token(String subject, String... groups) {
        return world.issuer()
                .sign(Map.of("sub", subject, "aud", World.AUDIENCE, "groups", List.of(groups)));
    }

    private static Answer post(String path, String token, String body) {
        return world.broker()
                .send(
                        world.broker()
                                .request(path)
                                .header("Authorization", "Bearer " + token)
                                .header("Content-Type", "application/json")
                                .POST(BodyPublishers.ofString(body)));
    }

    private static Answer ask(String token, String key) {
        return post(
                ALL,
                token,
                """
                {"keys":["%s"],"reason":"Ticket 4711: the export","seconds":3600}
                """
                        .formatted(key));
    }

    private static Answer approve(String token, String id) {
        return post(ALL + "/" + id + "/decision", token, "{\"verdict\":\"approve\"}");
    }

    @Test
    void a_grant_mints_nothing_before_a_second_admin_has_approved_it() {
        String token = token("ci:new");
        Answer refused = world.broker().mint(token, "spare");
        assertEquals("403 FORBIDDEN ", refused.verdict());
        assertEquals(List.of("spare"), refused.texts("/details/deniedKeys"));
        assertEquals(
                List.of("denied spare not_granted"),
                world.auditedFor(refused.header("X-Request-ID")));
        world.assertRows(
                "SELECT condition FROM broker.explain('ci', 'ci:new', '{}') WHERE key = 'spare'",
                "approval");
        world.assertRows(
                "SELECT rule FROM broker.lint WHERE tenant = 'acme' AND rule = 'awaits_approval'",
                "awaits_approval");

        world.database()
                .run(
                        Who.TENANT_ADMIN,
                        "SELECT broker.approve('subject_grant', id, internal.row_revision('subject_grant', tenant, id::text))"
                                + " FROM broker.subject_grant WHERE subject = 'ci:new'");
        Eventually.holds(() -> world.broker().mint(token, "spare").status() == 200);
        world.assertRows(
                "SELECT grant_approved_by FROM audit.mint WHERE subject = 'ci:new' AND outcome ="
                        + " 'issued' LIMIT 1",
                "test_tenant_admin");
    }

    /**
     * Teleport's and Infisical's reports: members of a group in the approvers' group were, or were
     * not, approvers. Here the approver's own token decides, and nothing is looked up.
     */
    @Test
    void an_indirect_member_approves_only_if_the_token_names_the_group() {
        String id = ask(token("ci:asks:nested"), "spare").at("/requests/0/id");
        for (String group : List.of("/leads/emea", "/leads/", "leads", "/LEADS", "/*")) {
            Answer answer = approve(token("lead:kim", group), id);
            assertEquals("404 NOT_FOUND ", answer.verdict(), group);
        }
        world.assertRows(
                "SELECT status FROM broker.access_request WHERE id = '%s'".formatted(id),
                "pending");
        Answer granted = approve(token("lead:kim", "/leads/emea", "/leads"), id);
        assertEquals("granted", granted.at("/status"), granted::toString);
    }

    /** A refused request writes no row, and other subjects are served meanwhile. */
    @Test
    @Tag("heavy")
    void a_flood_of_requests_that_no_rule_allows_is_refused_without_a_trace() throws Exception {
        String requester = token("stranger");
        assertEquals("403 FORBIDDEN ", ask(requester, "spare").verdict());
        String before = rows();
        try (ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
            List<Future<Answer>> answers =
                    IntStream.range(0, FLOOD)
                            .mapToObj(_ -> clients.submit(() -> ask(requester, "spare")))
                            .toList();
            assertEquals(200, world.broker().mint(world.token(), "api").status());
            for (Future<Answer> answer : answers) {
                assertTrue(isRefused(answer.get()), answer.get()::toString);
            }
        }
        assertEquals(before, rows());
    }

    /** On a slow machine some find no permit of their tenant in time. */
    private static boolean isRefused(Answer answer) {
        return answer.status() == 403
                || (answer.status() == 503
                        && answer.at("/message")
                                .startsWith("Too many requests for access are in flight"));
    }

    /** How many rows such a request could have left behind. */
    private static String rows() {
        return world.value(
                """
                SELECT concat_ws(' ', (SELECT count(*) FROM broker.access_request),
                       (SELECT count(*) FROM audit.event WHERE subject = 'stranger'),
                       (SELECT count(*) FROM audit.config_change))
                """);
    }
}
