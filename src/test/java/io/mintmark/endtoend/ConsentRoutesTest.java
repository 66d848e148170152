package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** An agent is denied, asks its person, waits, and goes on: over HTTP, with every wrong token. */
class ConsentRoutesTest {
    private static final String ALL = "/access-requests";
    private static final String HEADER = "Mintmark-Actor-Token";
    private static final String APPROVE = "{\"verdict\":\"approve\"}";
    private static final String REFUSED = "403 FORBIDDEN ";

    private static World world;

    @BeforeAll
    static void start() {
        world = new World();
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('agents', 'acme', '%1$s', '{mintmark-agents}', '{actor,approver}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access, consent, reason_pattern, reason_hint)
                VALUES ('acme', 'spare', 'ci', 'ci:*', 'glob', 7200, true, 'Mail **', 'Start with Mail.')
                """
                        .formatted(world.issuer().url()));
    }

    @AfterAll
    static void stop() {
        world.close();
    }

    private static String person(String name) {
        return world.issuer().sign(name, World.AUDIENCE);
    }

    private static String agent() {
        return world.issuer().sign("agent:bot", "mintmark-agents");
    }

    private static HttpRequest.Builder request(String path, String token, String... headers) {
        List<String> all =
                new ArrayList<>(
                        List.of(
                                "Authorization",
                                "Bearer " + token,
                                "Content-Type",
                                "application/json"));
        all.addAll(List.of(headers));
        return world.broker().request(path).headers(all.toArray(String[]::new));
    }

    private static Answer post(String path, String token, String body, String... headers) {
        return world.broker()
                .send(request(path, token, headers).POST(BodyPublishers.ofString(body)));
    }

    private static Answer ask(String token, String reason, String... headers) {
        return post(
                ALL,
                token,
                "{\"keys\":[\"spare\"],\"reason\":\"%s\",\"seconds\":900}".formatted(reason),
                headers);
    }

    private static String asked(String name) {
        Answer asked = ask(person(name), "Mail of the customer", HEADER, agent());
        assertEquals(202, asked.status(), asked::toString);
        assertEquals("1", asked.at("/requests/0/approvalsNeeded"));
        return asked.at("/requests/0/id");
    }

    private static Answer decide(String id, String token, String... headers) {
        return post(ALL + "/" + id + "/decision", token, APPROVE, headers);
    }

    private static int mints(String name, String... headers) {
        return post("/credentials/mint", person(name), "{\"keys\":[\"spare\"]}", headers).status();
    }

    @Test
    void the_agent_asks_the_person_consents_and_the_pair_mints() {
        String name = "ci:anna";
        Answer denied =
                post("/credentials/mint", person(name), "{\"keys\":[\"spare\"]}", HEADER, agent());
        assertEquals(REFUSED, denied.verdict());
        assertEquals(List.of("spare"), denied.texts("/details/requestableKeys"));
        String id = asked(name);
        Answer waiting =
                world.broker().send(request(ALL + "/" + id, person(name), HEADER, agent()).GET());
        assertEquals("true", waiting.at("/consent"), waiting::toString);
        assertEquals("false", waiting.at("/mayDecide"), waiting::toString);
        Answer own = world.broker().send(request(ALL + "?for=decision", person(name)).GET());
        assertEquals("agent:bot", own.at("/requests/0/actor"), own::toString);
        assertEquals("true", own.at("/requests/0/mayDecide"), own::toString);

        Answer granted = decide(id, person(name));
        assertEquals("granted", granted.at("/status"), granted::toString);
        Eventually.holds(() -> mints(name, HEADER, agent()) == 200);
        assertEquals(403, mints(name));
    }

    /** As an MCP gateway mints. */
    @Test
    void the_token_exchange_of_an_agent_says_that_it_may_ask() {
        String type = "urn:ietf:params:oauth:token-type:jwt";
        Answer denied =
                world.broker()
                        .send(
                                world.broker()
                                        .request("/oauth2/token")
                                        .header("Content-Type", "application/x-www-form-urlencoded")
                                        .POST(
                                                BodyPublishers.ofString(
                                                        "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&audience=spare&subject_token_type=%1$s&actor_token_type=%1$s&subject_token=%2$s&actor_token=%3$s"
                                                                .formatted(
                                                                        type,
                                                                        person("ci:eve"),
                                                                        agent()))));
        assertEquals("invalid_target", denied.at("/error"), denied::toString);
        assertTrue(
                denied.at("/error_description")
                        .contains(
                                "; use POST /access-requests to ask for access to key 'spare'. ("),
                denied::toString);
    }

    @Test
    void no_other_token_consents() {
        String name = "ci:ben";
        String id = asked(name);
        long now = Instant.now().getEpochSecond();
        String old =
                world.issuer()
                        .sign(
                                Map.of(
                                        "sub",
                                        name,
                                        "aud",
                                        World.AUDIENCE,
                                        "iat",
                                        now - 302,
                                        "exp",
                                        now + 600));
        String delegated =
                world.issuer()
                        .sign(
                                Map.of(
                                        "sub",
                                        name,
                                        "aud",
                                        World.AUDIENCE,
                                        "act",
                                        Map.of("sub", "agent:bot")));
        assertEquals(REFUSED + "token_not_fresh", decide(id, old).verdict());
        assertEquals(REFUSED + "decided_with_actor", decide(id, delegated).verdict());
        assertEquals(
                REFUSED + "decided_with_actor",
                decide(id, person(name), HEADER, agent()).verdict());
        assertEquals(REFUSED + "own_request", decide(id, agent()).verdict());
        assertEquals("404 NOT_FOUND ", decide(id, person("ci:carl")).verdict());
        world.assertRows(
                "SELECT status FROM broker.access_request WHERE id = '%s'".formatted(id),
                "pending");
        assertEquals(403, mints(name, HEADER, agent()));
    }

    @Test
    void alone_the_person_cannot_ask_by_it_and_a_reason_must_fit() {
        assertEquals(REFUSED, ask(person("ci:dan"), "Mail of the customer").verdict());
        Answer prose = ask(person("ci:dan"), "because I want to", HEADER, agent());
        assertEquals(400, prose.status(), prose::toString);
        assertEquals("reason", prose.at("/details/field"));
        assertEquals(
                "The reason for access to key \"spare\" must match the pattern \"Mail **\". Start with Mail.",
                prose.at("/message"));
    }
}
