package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jwt.SignedJWT;

import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.text.ParseException;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Two tokens in one request: that of the subject, and that of who acts for it. */
class ActorsTest {
    private static final String HEADER = "Mintmark-Actor-Token";
    private static final String AGENTS = "mintmark-agents";
    private static final String BOT = "agent:bot";

    private static World world;

    @BeforeAll
    static void start() {
        world = new World();
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('agents', 'acme', '%1$s', '{mintmark-agents}', '{actor}');
                INSERT INTO broker.tenant (name) VALUES ('other');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('foreign', 'other', '%1$s', '{mintmark-other}', '{actor}');
                INSERT INTO broker.identity_provider
                       (name, tenant, issuer, audiences, accepts, one_time_tokens, max_token_age)
                VALUES ('once', 'acme', '%1$s', '{mintmark-once}', '{actor}', true, 600);
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor)
                VALUES ('acme', 'ci', 'ci:main', 'spare', 'agents', 'agent:bot'),
                       ('acme', 'ci', 'ci:pair', 'deploy', 'agents', 'agent:bot'),
                       ('acme', 'ci', 'ci:pair', 'api', 'agents', 'agent:bot'),
                       ('acme', 'ci', 'ci:main', 'spare', 'once', 'agent:bot'),
                       ('acme', 'ci', 'ci:main', 'spare', 'ci', 'agent:bot')
                """
                        .formatted(world.issuer().url()));
    }

    @AfterAll
    static void stop() {
        world.close();
    }

    private static String bot() {
        return world.issuer().sign(BOT, AGENTS);
    }

    private static String pair() {
        return world.issuer().sign("ci:pair", World.AUDIENCE);
    }

    private static Answer mint(String token, String key, String... actors) {
        String[] headers = new String[2 + 2 * actors.length];
        headers[0] = "Authorization";
        headers[1] = "Bearer " + token;
        for (int i = 0; i < actors.length; i++) {
            headers[2 + 2 * i] = HEADER;
            headers[3 + 2 * i] = actors[i];
        }
        return world.broker().post("{\"keys\":[\"%s\"]}".formatted(key), headers);
    }

    private static Map<String, Object> claims(String token) throws ParseException {
        return SignedJWT.parse(token).getJWTClaimsSet().getClaims();
    }

    @Test
    void a_pair_gets_what_is_granted_to_it_and_the_log_has_both() throws ParseException {
        Answer answer = mint(world.token(), "spare", "Bearer " + bot());

        assertEquals(200, answer.status(), answer::toString);
        assertEquals(
                Map.of("iss", world.issuer().url(), "sub", BOT),
                claims(answer.at("/credentials/spare/ACCESS_TOKEN")).get("act"));
        world.assertRows(
                """
                SELECT DISTINCT concat_ws(' ', subject, actor_idp, actor, octet_length(actor_token_hash))
                  FROM audit.event WHERE request_id = '%s'
                """
                        .formatted(answer.header("X-Request-ID")),
                "ci:main agents agent:bot 32");
        world.assertRows(
                "SELECT actor || ' ' || outcome FROM audit.mint WHERE request_id = '%s'"
                        .formatted(answer.header("X-Request-ID")),
                "agent:bot issued");
    }

    @Test
    void consent_is_not_inherited_in_either_direction() {
        assertEquals("403 FORBIDDEN ", mint(world.token(), "spare").verdict());
        assertEquals("403 FORBIDDEN ", mint(world.token(), "api", bot()).verdict());
        assertEquals("401 INVALID_TOKEN subject_not_accepted", mint(bot(), "spare").verdict());
        assertEquals(
                "401 INVALID_TOKEN subject_not_accepted",
                mint(bot(), "spare", world.token()).verdict());
        assertEquals(200, mint(world.token(), "api").status());
    }

    @Test
    void a_delegation_token_is_a_pair_too() throws ParseException {
        String delegated =
                world.issuer()
                        .sign(
                                Map.of(
                                        "sub",
                                        "ci:main",
                                        "aud",
                                        World.AUDIENCE,
                                        "act",
                                        Map.of("sub", BOT, "act", Map.of("sub", "agent:first"))));
        Answer answer = mint(delegated, "spare");

        assertEquals(200, answer.status(), answer::toString);
        assertEquals(
                Map.of(
                        "iss",
                        world.issuer().url(),
                        "sub",
                        BOT,
                        "act",
                        Map.of("sub", "agent:first")),
                claims(answer.at("/credentials/spare/ACCESS_TOKEN")).get("act"));
        assertEquals("403 FORBIDDEN ", mint(delegated, "api").verdict());
    }

    @Test
    void show_finds_what_an_agent_did_for_every_person() {
        assertEquals(200, mint(world.token(), "api").status());
        for (String subject : List.of("ci:main", "ci:pair")) {
            String token = world.issuer().sign(subject, World.AUDIENCE);
            assertEquals(
                    200, mint(token, subject.equals("ci:pair") ? "api" : "spare", bot()).status());
        }
        var shown = AuditCommandsTest.run(world, Who.AUDITOR, "audit", "show", "--actor", BOT);
        List<String> lines = shown.getValue().lines().toList();
        String mints =
                world.value("SELECT count(*) FROM audit.mint WHERE actor = '%s'".formatted(BOT));
        assertEquals(0, shown.getKey(), shown::getValue);
        assertEquals(
                mints,
                String.valueOf(lines.stream().filter(line -> line.startsWith("mint ")).count()));
        for (String party :
                List.of("ci:main", "ci:pair", BOT + " (agents), who acts for the subject")) {
            assertTrue(shown.getValue().contains(party), shown::getValue);
        }
        assertEquals(
                1,
                AuditCommandsTest.run(
                                world, Who.AUDITOR, "audit", "show", "--actor", "agent:nobody")
                        .getKey());
    }

    @Test
    void every_door_takes_an_actor() {
        for (HttpRequest.Builder alone : AllDoors.requests(world.broker().url(), pair())) {
            Answer answer = world.broker().send(alone);
            assertTrue(answer.status() >= 400, answer::toString);
        }
        for (HttpRequest.Builder both : AllDoors.requests(world.broker().url(), pair())) {
            Answer answer = world.broker().send(both.header(HEADER, bot()));
            boolean isOfOtherType = answer.response().body().contains("has type 'aws-sts'");
            assertTrue(answer.status() == 200 || isOfOtherType, answer::toString);
        }
    }

    @Test
    void aws_gets_the_actor_as_a_principal_tag() throws ParseException {
        assertEquals(200, mint(pair(), "deploy", bot()).status());

        String claims = world.sts().claims().toString();
        assertTrue(claims.contains("\"actor\":[\"agent:bot\"]"), claims);
        assertTrue(claims.contains("\"act\":{"), claims);
    }

    @Test
    void token_exchange_takes_an_actor_token() {
        assertEquals("invalid_target", exchange("").at("/error"));
        assertEquals(
                200,
                exchange(
                                "&actor_token_type=urn:ietf:params:oauth:token-type:jwt&actor_token="
                                        + bot())
                        .status());
        assertEquals("invalid_request", exchange("&actor_token=" + bot()).at("/error"));
        assertEquals(
                "invalid_request",
                exchange("&actor_token_type=urn:ietf:params:oauth:token-type:jwt").at("/error"));
        assertEquals(
                "invalid_request",
                exchange(
                                "&actor_token_type=urn:ietf:params:oauth:token-type:jwt&actor_token="
                                        + bot(),
                                HEADER,
                                bot())
                        .at("/error"));
    }

    private static Answer exchange(String actor, String... headers) {
        HttpRequest.Builder request =
                world.broker()
                        .request("/oauth2/token")
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(
                                BodyPublishers.ofString(
                                        "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&audience=api"
                                                + "&subject_token_type=urn:ietf:params:oauth:token-type:jwt&subject_token="
                                                + pair()
                                                + actor));
        return world.broker().send(headers.length == 0 ? request : request.headers(headers));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "garbage             | 401 UNAUTHORIZED malformed_jwt",
                "expired             | 401 UNAUTHORIZED token_expired",
                "other audience      | 401 UNAUTHORIZED invalid_audience",
                "other tenant        | 401 INVALID_TOKEN actor_not_accepted",
                "no actor            | 401 INVALID_TOKEN actor_not_accepted",
                "the subject's       | 401 INVALID_TOKEN actor_not_accepted",
                "acting              | 401 INVALID_TOKEN actor_not_accepted",
                "too long            | 401 UNAUTHORIZED malformed_jwt",
                "act is a text       | 401 UNAUTHORIZED malformed_jwt",
                "act nested 5 deep   | 401 UNAUTHORIZED malformed_jwt"
            })
    void a_bad_actors_token_has_its_reason(String kind, String verdict) {
        String subject = world.token();
        Answer answer = mint(subject, "spare", actor(kind, subject));

        assertEquals(verdict, answer.verdict());
        assertEquals("actor", answer.at("/details/token"));
    }

    private static String actor(String kind, String subject) {
        return switch (kind) {
            case "garbage" -> "x.y.z";
            case "expired" ->
                    world.issuer()
                            .sign(
                                    Map.of(
                                            "sub",
                                            BOT,
                                            "aud",
                                            AGENTS,
                                            "exp",
                                            Instant.now().minusSeconds(60).getEpochSecond()));
            case "other audience" -> world.issuer().sign(BOT, "elsewhere");
            case "other tenant" -> world.issuer().sign(BOT, "mintmark-other");
            case "no actor" -> world.issuer().sign(BOT, World.AUDIENCE);
            case "the subject's" -> subject;
            case "too long" -> "a".repeat(16 * 1024 + 1);
            case "act is a text" -> withAct("agent:first");
            case "act nested 5 deep" ->
                    withAct(nested(nested(nested(nested(Map.of("sub", "agent:first"))))));
            default -> withAct(Map.of("sub", "agent:first"));
        };
    }

    private static String withAct(Object act) {
        return world.issuer().sign(Map.of("sub", BOT, "aud", AGENTS, "act", act));
    }

    private static Map<String, Object> nested(Map<String, Object> act) {
        return Map.of("sub", BOT, "act", act);
    }

    @Test
    void a_rejected_actors_token_is_on_record_and_names_nobody() {
        Answer answer = mint(world.token(), "spare", actor("no actor", ""));

        Eventually.holds(() -> !world.auditedFor(answer.header("X-Request-ID")).isEmpty());
        world.assertRows(
                """
                SELECT concat_ws(' ', kind, reason, actor_idp, actor_issuer, coalesce(subject, '-'), coalesce(actor, '-'))
                  FROM audit.event WHERE request_id = '%s'
                """
                        .formatted(answer.header("X-Request-ID")),
                "rejected actor_not_accepted ci %s - -".formatted(world.issuer().url()));
    }

    @Test
    void a_header_that_is_empty_or_there_twice_is_a_bad_request() {
        assertEquals(400, mint(world.token(), "spare", " ").status());
        assertEquals(400, mint(world.token(), "spare", bot(), bot()).status());
    }

    @Test
    void an_actor_without_a_subject_is_nobody() {
        Answer answer = world.broker().post("{\"keys\":[\"spare\"]}", HEADER, bot());
        assertEquals("401 UNAUTHORIZED no_token_provided", answer.verdict());
    }

    @Test
    void an_actors_token_that_works_once_is_used_up() {
        String once =
                world.issuer().sign(Map.of("sub", BOT, "aud", "mintmark-once", "jti", "actors-1"));

        assertEquals(200, mint(world.token(), "spare", once).status());
        Answer again = mint(world.token(), "spare", once);
        assertEquals("401 INVALID_TOKEN token_replayed", again.verdict());
        assertEquals("actor", again.at("/details/token"));
        assertEquals(
                400,
                world.broker()
                        .get("/sdk/aws/deploy", "Authorization", pair(), HEADER, once)
                        .status());
    }

    @Test
    void a_blocked_agent_is_stopped_whoever_it_acts_for() {
        world.admin(
                "INSERT INTO broker.blocked_subject (tenant, idp, subject, reason)"
                        + " VALUES ('acme', 'agents', 'agent:bot', 'x')");
        try {
            assertEquals("403 FORBIDDEN ", mint(world.token(), "spare", bot()).verdict());
            assertEquals(200, mint(world.token(), "api").status());
            assertEquals(
                    List.of("subject_blocked"),
                    world.column(
                            "SELECT reason FROM audit.denial WHERE actor = 'agent:bot'"
                                    + " ORDER BY mint_id DESC LIMIT 1"));
        } finally {
            world.admin("DELETE FROM broker.blocked_subject");
            Eventually.holds(() -> mint(world.token(), "spare", bot()).status() == 200);
        }
    }
}
