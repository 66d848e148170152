package io.mintmark.endtoend;

import static io.mintmark.endtoend.StsForms.message;
import static io.mintmark.endtoend.StsForms.verdict;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.provider.sts.StsAnswer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** {@code POST /sdk/sts}, in plain HTTP. */
class StsEndpointTest {
    private static final String ORIGIN = "https://console.example.com";

    @AutoClose private static World world;

    @BeforeAll
    static void start() {
        world = new World(Map.of("PROVIDER_TIMEOUT", "PT6S", "CORS_ALLOWED_ORIGINS", ORIGIN));
        world.admin(
                """
                INSERT INTO broker.identity_provider
                       (name, tenant, issuer, audiences, max_token_age, one_time_tokens)
                VALUES ('once', 'acme', '%s', '{mintmark-once}', 600, true);
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'once', 'ci:main', 'deploy');
                """
                        .formatted(world.issuer().url()));
    }

    @AfterEach
    void forget() {
        world.sts().always(new StsAnswer.AsAsked());
    }

    private static Answer post(String requestId, Map<String, String> form) {
        return post(requestId, StsForms.encoded(form));
    }

    private static Answer post(String requestId, String body, String... headers) {
        HttpRequest.Builder request =
                StsForms.request(world.broker().url(), body).header("X-Request-ID", requestId);
        return world.broker().send(headers.length == 0 ? request : request.headers(headers));
    }

    private static Answer assume(String requestId, String role) {
        return post(requestId, StsForms.form(world.token(), role));
    }

    private static Answer with(String requestId, String name, String value) {
        Map<String, String> form = StsForms.form(world.token(), World.ROLE);
        form.put(name, value);
        return post(requestId, form);
    }

    private static Duration life(Answer answer) {
        return Duration.between(Instant.now(), Instant.parse(StsForms.text(answer, "Expiration")));
    }

    @Test
    void a_client_of_sts_gets_what_it_reads() {
        Answer answer = assume("sts", World.ROLE);
        assertEquals(200, answer.status(), answer.toString());
        assertEquals("text/xml", answer.header("Content-Type"));
        assertEquals("no-store", answer.header("Cache-Control"));
        assertEquals("sts", answer.header("X-Request-ID"));
        assertEquals(
                "AssumeRoleWithWebIdentityResponse",
                StsForms.parsed(answer.response().body()).getDocumentElement().getLocalName());
        assertTrue(StsForms.text(answer, "AccessKeyId").startsWith("ASIA"));
        assertFalse(StsForms.text(answer, "SecretAccessKey").isEmpty());
        assertFalse(StsForms.text(answer, "SessionToken").isEmpty());
        assertEquals(World.SUBJECT, StsForms.text(answer, "SubjectFromWebIdentityToken"));
        assertEquals("sts", StsForms.text(answer, "RequestId"));
        assertTrue(life(answer).toMinutes() >= 58, answer::toString);
        world.assertAudited("sts", "requested deploy", "issued deploy");
    }

    /** Rust's object_store, in Polars, delta-rs and DataFusion, sends its POST so. */
    @Test
    void parameters_may_be_in_the_query_of_a_post_without_a_body() {
        String query = StsForms.encoded(StsForms.form(world.token(), World.ROLE));
        for (String path : List.of("/sdk/sts", "/sdk/sts/")) {
            Answer answer =
                    world.broker()
                            .send(
                                    world.broker()
                                            .request(path + "?" + query)
                                            .POST(BodyPublishers.noBody()));
            assertEquals(200, answer.status(), answer.toString());
        }
        Answer both =
                world.broker()
                        .send(
                                world.broker()
                                        .request("/sdk/sts?" + query)
                                        .header("Content-Type", StsForms.TYPE)
                                        .POST(BodyPublishers.ofString("Action=GetCallerIdentity")));
        assertEquals("400 InvalidAction", verdict(both));
        Answer got = world.broker().get("/sdk/sts?" + query);
        assertEquals(405, got.status());
    }

    @Test
    void sdks_may_append_a_slash() {
        Answer answer =
                world.broker()
                        .send(
                                world.broker()
                                        .request("/sdk/sts/")
                                        .header("Content-Type", StsForms.TYPE)
                                        .POST(
                                                BodyPublishers.ofString(
                                                        StsForms.encoded(
                                                                StsForms.form(
                                                                        world.token(),
                                                                        World.ROLE)))));
        assertEquals(200, answer.status(), answer.toString());
    }

    @Test
    void a_mint_looks_as_if_it_came_through_the_interface() {
        assume("this-way", World.ROLE);
        world.assertMintedLikeTheInterface("this-way");
    }

    @Test
    void a_duration_can_only_shorten() {
        Answer shorter = with("shorter", "DurationSeconds", "900");
        assertTrue(life(shorter).toMinutes() <= 15, shorter::toString);
        assertEquals("900", world.sts().calls().getLast().parameter("DurationSeconds").orElse(""));
        Answer longer = with("longer", "DurationSeconds", "43200");
        assertTrue(life(longer).toMinutes() <= 60, longer::toString);
        assertEquals("3600", world.sts().calls().getLast().parameter("DurationSeconds").orElse(""));
        Answer tooShort = with("too-short", "DurationSeconds", "899");
        assertEquals("400 ValidationError", verdict(tooShort));
        assertTrue(message(tooShort).contains("at least 900"), tooShort::toString);
        world.assertAudited("too-short");
        for (String no : List.of("0", "-1", "9 00", "1e3", "0x384", "9999999999", "٩٠٠")) {
            assertEquals("400 ValidationError", verdict(with("no", "DurationSeconds", no)), no);
        }
        assertEquals(200, with("empty", "DurationSeconds", "").status());
    }

    @Test
    void policies_are_refused_because_ignoring_them_would_give_more_than_was_asked_for() {
        for (String name :
                List.of("Policy", "PolicyArns", "PolicyArns.member.1.arn", "PolicyArns.1")) {
            Answer answer = with("policy", name, "arn:aws:iam::aws:policy/ReadOnlyAccess");
            assertEquals("400 ValidationError", verdict(answer), name);
        }
        world.assertAudited("policy");
    }

    @Test
    void other_actions_are_refused_with_a_sentence_on_what_to_unset() {
        for (String action : List.of("GetCallerIdentity", "AssumeRole", "x".repeat(500), "")) {
            Answer answer =
                    post(
                            "action",
                            StsForms.encoded(Map.of("Action", action, "Version", "2011-06-15")),
                            "Authorization",
                            "AWS4-HMAC-SHA256 Credential=A/20260101/eu-central-1/sts/aws4_request");
            assertEquals("400 InvalidAction", verdict(answer), action);
            assertTrue(message(answer).contains("unset AWS_ENDPOINT_URL_STS"), answer::toString);
            assertTrue(message(answer).length() < 500, answer::toString);
        }
        assertEquals("400 InvalidAction", verdict(post("action", "")));
        for (String method : List.of("GET", "PUT", "OPTIONS", "DELETE")) {
            Answer answer =
                    world.broker()
                            .send(
                                    world.broker()
                                            .request("/sdk/sts?Action=GetCallerIdentity")
                                            .method(method, BodyPublishers.noBody()));
            assertEquals("405 InvalidAction", verdict(answer), method);
            assertEquals("POST", answer.header("Allow"));
        }
        assertEquals(
                "404 InvalidAction", verdict(world.broker().get("/sdk/sts/GetCallerIdentity")));
    }

    @Test
    void parameters_that_are_missing_or_wrong_are_named() {
        for (String name : List.of("RoleArn", "WebIdentityToken")) {
            Answer answer = with("missing", name, "");
            assertEquals("400 ValidationError", verdict(answer), name);
            assertTrue(message(answer).startsWith(name), answer::toString);
        }
        for (String arn : List.of("deploy", "ARN:x", "arn:" + "x".repeat(2_045))) {
            assertEquals("400 ValidationError", verdict(with("arn", "RoleArn", arn)));
        }
        String form = StsForms.encoded(StsForms.form(world.token(), World.ROLE));
        assertEquals("400 ValidationError", verdict(post("twice", form + "&RoleArn=x")));
        assertEquals("400 ValidationError", verdict(post("escape", form + "&x=%zz")));
        assertEquals("400 ValidationError", verdict(post("utf-8", form + "&x=%ff")));
        assertEquals("413 ValidationError", verdict(post("long", "x=" + "a".repeat(1_000_000))));
        assertEquals(
                "415 ValidationError",
                verdict(
                        world.broker()
                                .send(
                                        world.broker()
                                                .request("/sdk/sts")
                                                .header("Content-Type", "application/json")
                                                .POST(BodyPublishers.ofString("{}")))));
        assertEquals(
                List.of(),
                world.audited("request_id IN ('missing', 'arn', 'twice', 'escape', 'utf-8')"));
    }

    @Test
    void a_token_file_may_end_in_a_line_end() {
        assertEquals(200, with("line-end", "WebIdentityToken", world.token() + "\r\n").status());
    }

    @Test
    void a_token_that_is_not_accepted_is_on_record() {
        String expired = world.expiredToken();
        Answer answer = with("old", "WebIdentityToken", expired);
        assertEquals("400 ExpiredTokenException", verdict(answer));
        assertTrue(message(answer).contains("(token_expired)"), answer::toString);
        Eventually.holds(() -> world.auditedFor("old").equals(List.of("rejected token_expired")));
        assertEquals(
                "400 InvalidIdentityToken", verdict(with("bad", "WebIdentityToken", "garbage")));
        String own = world.broker().mint(world.token(), "api").at("/credentials/api/ACCESS_TOKEN");
        assertEquals("400 InvalidIdentityToken", verdict(with("own", "WebIdentityToken", own)));
    }

    @Test
    void tokens_that_work_once_are_not_for_sdks_and_stay_unused() {
        String once =
                world.issuer()
                        .sign(Map.of("sub", World.SUBJECT, "aud", "mintmark-once", "jti", "1"));
        assertEquals("400 ValidationError", verdict(with("once", "WebIdentityToken", once)));
        world.assertAudited("once");
        assertEquals(200, world.broker().mint(once, "deploy").status());
    }

    @Test
    void what_a_provider_refuses_is_not_worth_repeating_and_what_may_pass_is() {
        world.sts()
                .next(
                        new StsAnswer.Refusing(403, "AccessDenied", "secret words"),
                        new StsAnswer.Refusing(400, "InvalidIdentityToken", "secret words"),
                        new StsAnswer.Refusing(400, "MalformedPolicyDocument", "secret words"),
                        new StsAnswer.Saying(200, "<html>"));
        for (String expected :
                List.of(
                        "403 AccessDenied provider_rejected",
                        "403 AccessDenied broker_identity_rejected",
                        "400 ValidationError provider_misconfigured",
                        "503 ServiceUnavailable provider_error")) {
            String reason = expected.substring(expected.lastIndexOf(' ') + 1);
            Answer answer = assume(reason, World.ROLE);
            assertEquals(expected, verdict(answer) + " " + reason);
            assertTrue(message(answer).contains("(" + reason + ")"), answer::toString);
            assertFalse(answer.toString().contains("secret words"));
            assertEquals(answer.status() == 503 ? "5" : "", answer.header("Retry-After"), reason);
            world.assertAudited(reason, "requested deploy", "failed deploy " + reason);
        }
    }

    @Test
    void browsers_are_not_let_in() {
        Answer answer =
                post(
                        "browser",
                        StsForms.encoded(StsForms.form(world.token(), World.ROLE)),
                        "Origin",
                        ORIGIN);
        assertEquals(200, answer.status());
        assertEquals("", answer.header("Access-Control-Allow-Origin"));
        assertEquals("", answer.header("Vary"));
    }

    @Test
    void the_limits_of_the_address_count_here_too() {
        try (World strict =
                new World(Map.of("RATE_LIMIT_ENABLED", "true", "RATE_LIMIT_REQUESTS", "1"))) {
            String form = StsForms.encoded(StsForms.form(strict.token(), World.ROLE));
            HttpRequest.Builder request = StsForms.request(strict.broker().url(), form);
            assertEquals(200, strict.broker().send(request).status());
            Answer answer = strict.broker().send(request);
            assertEquals("429 Throttling", verdict(answer));
            assertEquals("0", answer.header("X-RateLimit-Remaining"));
            assertFalse(answer.header("Retry-After").isEmpty());
        }
    }
}
