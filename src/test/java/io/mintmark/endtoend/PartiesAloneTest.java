package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;

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
                assertEquals(
                        "403 FORBIDDEN ",
                        mint(parties.subject(), key, HEADER, parties.actor()).verdict());
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
