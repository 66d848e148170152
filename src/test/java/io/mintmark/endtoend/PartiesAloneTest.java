package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * An attacker has valid tokens of two parties, a person and an agent, and each alone has grants.
 * Together they have none, whichever is presented as which, at each route and by the SQL decision.
 */
class PartiesAloneTest {
    private static final String HEADER = "Mintmark-Actor-Token";
    private static final List<String> KEYS = List.of("deploy", "api", "spare");
    private static final String JWT = "urn:ietf:params:oauth:token-type:jwt";

    @AutoClose private static World world;

    private record Parties(String subject, String actor) {}

    @BeforeAll
    static void start() {
        world = new World();
        world.admin(
                """
                UPDATE broker.identity_provider SET accepts = '{subject,actor}' WHERE name = 'ci';
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('agents', 'acme', '%s', '{mintmark-agents}', '{subject,actor}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, match, key)
                VALUES ('acme', 'agents', 'agent:bot', 'exact', 'spare'),
                       ('acme', 'agents', 'agent:**', 'glob', 'spare'),
                       ('acme', 'ci', 'ci:**', 'glob', 'api');
                INSERT INTO broker.subject_grant
                       (tenant, idp, subject, match, key, actor_idp, actor, actor_match)
                VALUES ('acme', 'ci', 'ci:self:**', 'glob', 'spare', 'ci', 'ci:self:**', 'glob'),
                       ('acme', 'ci', 'ci:self:**', 'glob', 'spare', 'agents', 'ci:self:**', 'glob');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, break_glass)
                VALUES ('acme', 'spare', 'ci', 'ci:asks:*', 'glob', 1, 7200, false),
                       ('acme', 'spare', 'ci', 'ci:glass:*', 'glob', 0, 7200, true);
                INSERT INTO broker.access_approver (rule, role_name)
                SELECT id, 'test_admin' FROM broker.access_rule WHERE approvals = 1;
                """
                        .formatted(world.issuer().url()));
        Eventually.holds(() -> mint(agent(), "spare").status() == 200);
    }

    private static String person() {
        return world.token();
    }

    private static String agent() {
        return world.issuer().sign("agent:bot", "mintmark-agents");
    }

    private static List<Parties> both() {
        return List.of(new Parties(person(), agent()), new Parties(agent(), person()));
    }

    private static Answer mint(String token, String key, String... headers) {
        List<String> all = new ArrayList<>(List.of("Authorization", "Bearer " + token));
        all.addAll(List.of(headers));
        return world.broker()
                .post("{\"keys\":[\"%s\"]}".formatted(key), all.toArray(String[]::new));
    }

    private static void assertNothing(Answer answer) {
        boolean lists = KEYS.stream().anyMatch(answer.response().body()::contains);
        assertTrue(answer.status() >= 400 || !lists, answer::toString);
    }

    /** Otherwise the attacks prove nothing. */
    @Test
    void each_alone_gets_its_own_and_not_the_others() {
        assertEquals(200, mint(person(), "api").status());
        assertEquals("403 FORBIDDEN ", mint(person(), "spare").verdict());
        assertEquals("403 FORBIDDEN ", mint(agent(), "api").verdict());
        world.assertRows(explained("'ci', 'ci:main', '{}'"), "api deploy");
        world.assertRows(explained("'agents', 'agent:bot', '{}'"), "spare");
    }

    @Test
    void together_they_get_no_key_at_any_route() {
        for (Parties parties : both()) {
            for (String key : KEYS) {
                Answer denied = mint(parties.subject(), key, HEADER, parties.actor());
                assertEquals("403 FORBIDDEN ", denied.verdict());
                assertTrue(denied.at("/message").contains("' with actor '"), denied::toString);
                assertEquals("invalid_target", exchange(parties, key).at("/error"));
            }
            AllDoors.requests(world.broker().url(), parties.subject())
                    .forEach(door ->
                            assertNothing(
                                    world.broker().send(door.header(HEADER, parties.actor()))));
        }
        world.assertRows(
                "SELECT count(*) FROM audit.mint WHERE actor IS NOT NULL AND outcome = 'issued'",
                "0");
    }

    private static Answer exchange(Parties parties, String key) {
        HttpRequest.Builder request =
                world.broker()
                        .request("/oauth2/token")
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(
                                BodyPublishers.ofString(
                                        "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&audience=%s&subject_token_type=%s&subject_token=%s&actor_token_type=%s&actor_token=%s"
                                                .formatted(
                                                        key,
                                                        JWT,
                                                        parties.subject(),
                                                        JWT,
                                                        parties.actor())));
        return world.broker().send(request);
    }

    @Test
    void two_subjects_in_one_request_are_refused() {
        for (Parties parties : both()) {
            Answer answer =
                    mint(parties.subject(), "api", "Authorization", "Bearer " + parties.actor());
            assertTrue(answer.status() == 400 || answer.status() == 401, answer::toString);
        }
    }

    /** Grants for pairs whose globs match both parties, of which the attacker is one. */
    @Test
    void one_party_with_two_tokens_is_no_pair() {
        String refused = "401 INVALID_TOKEN actor_not_accepted";
        String one = "ci:self:one";
        for (String second : List.of(token(one), world.issuer().sign(one, "mintmark-agents"))) {
            Answer answer = mint(token(one), "spare", HEADER, second);
            assertEquals(refused, answer.verdict());
            assertEquals("actor", answer.at("/details/token"));
        }
        Answer claimed =
                mint(
                        world.issuer()
                                .sign(
                                        Map.of(
                                                "sub",
                                                one,
                                                "aud",
                                                World.AUDIENCE,
                                                "act",
                                                Map.of("sub", one))),
                        "spare");
        assertEquals(refused, claimed.verdict());
        world.assertRows(explained("'ci', 'ci:self:one', '{}', 'ci', 'ci:self:one', '{}'"), "");
        world.assertRows(explained("'ci', 'ci:self:one', '{}', 'agents', 'ci:self:one', '{}'"), "");
        world.assertRows(
                explained("'ci', 'ci:self:one', '{}', 'ci', 'ci:self:two', '{}'"), "spare");
        Answer keys =
                world.broker()
                        .get(
                                "/credentials/keys",
                                "Authorization",
                                "Bearer " + token(one),
                                HEADER,
                                token("ci:self:two"));
        assertTrue(keys.status() == 200 && keys.response().body().contains("spare"), keys + "");
    }

    private static String token(String subject) {
        return world.issuer().sign(subject, World.AUDIENCE);
    }

    private static Answer ask(String token, String... headers) {
        return access("", token, "POST", headers);
    }

    private static Answer access(String path, String token, String method, String... headers) {
        HttpRequest.Builder request =
                world.broker()
                        .request("/access-requests" + path)
                        .header("Authorization", "Bearer " + token)
                        .header("Content-Type", "application/json")
                        .method(
                                method,
                                method.equals("POST")
                                        ? BodyPublishers.ofString(
                                                "{\"keys\":[\"spare\"],\"reason\":\"The export is stuck\",\"seconds\":3600}")
                                        : BodyPublishers.noBody());
        return world.broker().send(headers.length == 0 ? request : request.headers(headers));
    }

    /** An agent with a delegation token, which isn't good for the person alone. */
    private static String delegated(String subject) {
        return world.issuer()
                .sign(
                        Map.of(
                                "sub",
                                subject,
                                "aud",
                                World.AUDIENCE,
                                "act",
                                Map.of("sub", "agent:bot")));
    }

    @Test
    void an_agent_does_not_break_the_glass_that_its_principal_may_break() {
        for (Answer answer :
                List.of(ask(delegated("ci:glass:a")), ask(token("ci:glass:a"), HEADER, agent()))) {
            assertEquals("403 FORBIDDEN ", answer.verdict());
            assertTrue(answer.at("/message").contains("without an actor"), answer::toString);
        }
        world.assertRows(
                "SELECT count(*) FROM broker.access_request WHERE subject = 'ci:glass:a'", "0");
        assertEquals(
                List.of(),
                mint(token("ci:glass:a"), "spare", HEADER, agent())
                        .texts("/details/requestableKeys"));
        assertEquals(
                List.of("spare"),
                mint(token("ci:glass:a"), "spare").texts("/details/requestableKeys"));
        assertEquals("granted", ask(token("ci:glass:a")).at("/requests/0/status"));
    }

    @Test
    void an_agent_neither_sees_nor_ends_the_access_of_its_principal() {
        String own = ask(token("ci:asks:a")).at("/requests/0/id");
        String both = ask(token("ci:asks:a"), HEADER, agent()).at("/requests/0/id");
        assertNotEquals(own, both);
        for (String[] headers : List.of(new String[0], new String[] {HEADER, agent()})) {
            String token = headers.length == 0 ? delegated("ci:asks:a") : token("ci:asks:a");
            assertEquals(404, access("/" + own, token, "GET", headers).status());
            assertEquals(404, access("/" + own, token, "DELETE", headers).status());
            Answer listed = access("", token, "GET", headers);
            List<String> ids = listed.body().path("requests").findValuesAsText("id");
            // an act claim names an actor of the token's own identity provider
            assertEquals(headers.length == 0 ? List.of() : List.of(both), ids);
        }
        assertEquals("pending", access("/" + own, token("ci:asks:a"), "GET").at("/status"));
        assertEquals(
                "withdrawn",
                access("/" + both, token("ci:asks:a"), "DELETE", HEADER, agent()).at("/status"));
        assertEquals("withdrawn", access("/" + own, token("ci:asks:a"), "DELETE").at("/status"));
    }

    @Test
    void sql_decides_alike() {
        world.assertRows(explained("'ci', 'ci:main', '{}', 'agents', 'agent:bot', '{}'"), "");
        world.assertRows(explained("'agents', 'agent:bot', '{}', 'ci', 'ci:main', '{}'"), "");
    }

    private static String explained(String arguments) {
        return "SELECT coalesce(string_agg(key, ' ' ORDER BY key), '') FROM broker.explain(%s) WHERE granted"
                .formatted(arguments);
    }
}
