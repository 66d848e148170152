package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.provider.sts.StsAnswer;
import io.mintmark.provider.sts.StsStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.net.http.HttpRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** {@code GET /sdk/aws/{key}}, in plain HTTP. */
class AwsSdkEndpointTest {
    private static final String ORIGIN = "https://console.example.com";

    @AutoClose private static World world;
    @AutoClose private static StsStandIn minio;

    @BeforeAll
    static void start() {
        world = new World(Map.of("PROVIDER_TIMEOUT", "PT10S", "CORS_ALLOWED_ORIGINS", ORIGIN));
        minio = StsStandIn.minio(world.broker().url().toString(), world.broker()::keySet, "policy");
        world.admin(
                """
                INSERT INTO broker.identity_provider
                       (name, tenant, issuer, audiences, max_token_age, one_time_tokens)
                VALUES ('once', 'acme', '%1$s', '{mintmark-once}', 600, true);
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'minio', 's3-sts', '{"endpoint": "%2$s"}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs)
                VALUES ('acme', 'renamed', 'aws', 3600, '{"role_arn": "%3$s"}',
                        '{"ID": "AccessKeyId"}'),
                       ('acme', 'bucket', 'minio', 3600, '{"role_arn": "arn:minio:iam:::role/x"}', '{}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:main', 'renamed'),
                       ('acme', 'ci', 'ci:main', 'bucket'),
                       ('acme', 'once', 'ci:main', 'deploy');
                """
                        .formatted(world.issuer().url(), minio.endpoint(), World.ROLE));
        Eventually.holds(() -> world.broker().keys(world.token()).body().path("keys").size() == 4);
    }

    private static Answer ask(String requestId, String key, String... headers) {
        String[] all = new String[headers.length + 2];
        System.arraycopy(headers, 0, all, 0, headers.length);
        all[headers.length] = "X-Request-ID";
        all[headers.length + 1] = requestId;
        return world.broker().get("/sdk/aws/" + key, all);
    }

    private static Answer get(String requestId, String key, String token) {
        return ask(requestId, key, "Authorization", token);
    }

    @Test
    void a_container_provider_gets_what_it_reads() {
        Answer answer =
                ask("sdk", "deploy", "Authorization", world.token(), "User-Agent", "an-sdk/1");
        assertEquals(200, answer.status(), answer.toString());
        JsonNode body = answer.body();
        assertEquals(4, body.size(), body::toString);
        assertTrue(body.path("AccessKeyId").asText().startsWith("ASIA"));
        assertFalse(body.path("SecretAccessKey").asText().isEmpty());
        assertFalse(body.path("Token").asText().isEmpty());
        Duration life = Duration.between(Instant.now(), Instant.parse(answer.at("/Expiration")));
        assertTrue(life.toMinutes() >= 58 && life.toMinutes() <= 60, life::toString);
        assertEquals("no-store", answer.header("Cache-Control"));
        assertEquals("application/json", answer.header("Content-Type"));
        assertEquals("sdk", answer.header("X-Request-ID"));
        world.assertAudited("sdk", "requested deploy", "issued deploy");
        world.assertRows(
                "SELECT DISTINCT user_agent FROM audit.event WHERE request_id = 'sdk'", "an-sdk/1");
    }

    @Test
    void a_token_may_have_its_scheme() {
        assertEquals(200, get("bearer", "deploy", "Bearer " + world.token()).status());
        assertEquals(200, get("small", "deploy", "bearer " + world.token()).status());
    }

    @Test
    void keys_of_both_types_are_told_alike_whatever_their_outputs() {
        for (String key : List.of("renamed", "bucket")) {
            Answer answer = get("both", key, world.token());
            assertEquals(200, answer.status(), answer.toString());
            assertEquals(4, answer.body().size(), answer::toString);
            assertFalse(answer.at("/Token").isEmpty());
        }
    }

    @Test
    void a_mint_looks_as_if_it_came_through_the_interface() {
        get("this-way", "deploy", world.token());
        world.assertMintedLikeTheInterface("this-way");
    }

    @Test
    void a_granted_key_of_another_type_is_refused_before_anything_is_minted() {
        Answer answer = get("type", "api", world.token());
        assertEquals(400, answer.status());
        assertEquals("INVALID_REQUEST", answer.at("/code"));
        assertEquals(
                "Key 'api' has type 'jwt'; this endpoint returns credentials of aws-sts, "
                        + "s3-sts only; POST /credentials/mint returns those of every type. (request type)",
                answer.at("/message"));
        world.assertAudited("type");
    }

    @Test
    void errors_are_the_interfaces_with_a_code_for_sdks() {
        Answer answer = get("denied", "spare", world.token());
        assertEquals("403 FORBIDDEN ", answer.verdict());
        assertEquals("FORBIDDEN", answer.at("/code"));
        assertEquals(List.of("spare"), answer.texts("/details/deniedKeys"));
        world.assertAudited("denied", "denied spare not_granted");
        assertEquals("403 FORBIDDEN ", get("missing", "nothing", world.token()).verdict());
        world.assertAudited("missing", "denied nothing no_such_key");
    }

    @Test
    void a_stranger_can_not_find_out_which_keys_there_are_or_of_which_type() {
        String stranger = world.issuer().sign("ci:stranger", World.AUDIENCE);
        String pattern = "\"(timestamp|requestId)\":\"[^\"]*\"";
        List<String> bodies =
                List.of("deploy", "api", "nothing").stream()
                        .map(key ->
                                get("stranger", key, stranger)
                                        .toString()
                                        .replaceAll(pattern, "")
                                        .replace(key, "KEY"))
                        .distinct()
                        .toList();
        assertEquals(1, bodies.size(), bodies::toString);
        assertTrue(bodies.getFirst().startsWith("403 "), bodies::toString);
    }

    @Test
    void a_token_in_the_query_is_not_looked_at() {
        Answer answer = world.broker().get("/sdk/aws/deploy?token=" + world.token());
        assertEquals("401 UNAUTHORIZED no_token_provided", answer.verdict());
    }

    @Test
    void headers_that_hold_no_token_are_refused() {
        for (String header : List.of("", "Bearer", "Basic YTpi", "Bearer  ")) {
            Answer answer = get("none", "deploy", header);
            assertEquals(401, answer.status(), header);
            assertEquals("UNAUTHORIZED", answer.at("/code"));
        }
        Answer twice =
                ask(
                        "two",
                        "deploy",
                        "Authorization",
                        world.token(),
                        "Authorization",
                        world.token());
        assertEquals(400, twice.status());
    }

    @Test
    void a_token_that_is_not_accepted_is_on_record() {
        String expired = world.expiredToken();
        assertEquals("401 UNAUTHORIZED token_expired", get("old", "deploy", expired).verdict());
        Eventually.holds(() -> world.auditedFor("old").equals(List.of("rejected token_expired")));
    }

    @Test
    void a_token_of_the_brokers_own_is_worth_nothing() {
        String own = world.broker().mint(world.token(), "api").at("/credentials/api/ACCESS_TOKEN");
        assertEquals("401 UNAUTHORIZED unknown_issuer", get("own", "deploy", own).verdict());
    }

    @Test
    void tokens_that_work_once_are_not_for_sdks_and_stay_unused() {
        String once =
                world.issuer()
                        .sign(Map.of("sub", World.SUBJECT, "aud", "mintmark-once", "jti", "1"));
        Answer answer = get("once", "deploy", once);
        assertEquals(400, answer.status());
        assertTrue(answer.at("/message").contains("work only once"), answer::toString);
        world.assertAudited("once");
        assertEquals(200, world.broker().mint(once, "deploy").status());
    }

    @Test
    void names_that_no_key_can_have_are_refused() {
        for (String name : List.of("1a", "a".repeat(65))) {
            Answer answer = get("name", name, world.token());
            assertEquals(400, answer.status(), name);
            assertEquals("INVALID_REQUEST", answer.at("/code"), name);
        }
        for (String name : List.of("a%20b", "%E2%82%AC", "a%0d%0aX-Evil:%201")) {
            Answer answer = get("name", name, world.token());
            assertEquals(403, answer.status(), name);
            assertEquals("FORBIDDEN", answer.at("/code"), name);
            assertEquals("", answer.header("X-Evil"));
        }
    }

    @Test
    void other_methods_are_refused() {
        for (String method : List.of("POST", "PUT", "OPTIONS", "DELETE", "HEAD")) {
            Answer answer =
                    world.broker()
                            .send(
                                    world.broker()
                                            .request("/sdk/aws/deploy")
                                            .header("Authorization", world.token())
                                            .header("X-Request-ID", "method")
                                            .method(method, HttpRequest.BodyPublishers.noBody()));
            assertEquals(405, answer.status(), method);
            assertEquals("GET", answer.header("Allow"));
        }
        world.assertAudited("method");
    }

    @Test
    void browsers_are_not_let_in() {
        Answer answer = ask("browser", "deploy", "Origin", ORIGIN);
        assertEquals("", answer.header("Access-Control-Allow-Origin"));
        assertEquals(
                ORIGIN,
                world.broker()
                        .get("/credentials/keys", "Origin", ORIGIN)
                        .header("Access-Control-Allow-Origin"));
    }

    @Test
    void what_repeating_can_not_mend_is_not_repeated() {
        world.sts()
                .next(
                        new StsAnswer.Refusing(403, "AccessDenied", "secret words"),
                        new StsAnswer.Refusing(400, "InvalidIdentityToken", "secret words"),
                        new StsAnswer.Refusing(400, "MalformedPolicyDocument", "secret words"));
        for (String reason :
                List.of(
                        "provider_rejected",
                        "broker_identity_rejected",
                        "provider_misconfigured")) {
            Answer answer = get(reason, "deploy", world.token());
            assertEquals("400 CREDENTIAL_MINT_FAILED " + reason, answer.verdict());
            assertEquals("", answer.header("Retry-After"));
            assertFalse(answer.toString().contains("secret words"));
            world.assertAudited(reason, "requested deploy", "failed deploy " + reason);
        }
    }

    @Test
    void what_may_pass_is_worth_another_try() {
        world.sts().next(new StsAnswer.Hanging(), new StsAnswer.Saying(200, "<html>"));
        for (String reason : List.of("provider_timeout", "provider_error")) {
            Answer answer = get(reason, "deploy", world.token());
            assertEquals("503 CREDENTIAL_MINT_FAILED " + reason, answer.verdict());
            assertEquals("5", answer.header("Retry-After"));
            assertEquals("5", answer.at("/retryAfter"));
        }
    }

    @Test
    void the_limits_of_the_address_count_here_too() {
        try (World strict =
                new World(Map.of("RATE_LIMIT_ENABLED", "true", "RATE_LIMIT_REQUESTS", "1"))) {
            assertEquals(
                    200,
                    strict.broker()
                            .get("/sdk/aws/deploy", "Authorization", strict.token())
                            .status());
            Answer answer = strict.broker().get("/sdk/aws/deploy", "Authorization", strict.token());
            assertEquals("429 RATE_LIMIT_EXCEEDED ", answer.verdict());
            assertEquals("RATE_LIMIT_EXCEEDED", answer.at("/code"));
            assertEquals("0", answer.header("X-RateLimit-Remaining"));
        }
    }
}
