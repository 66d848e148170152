package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** {@code POST /oauth2/token}, in plain HTTP. */
class TokenExchangeEndpointTest {
    private static final String JWT = "urn:ietf:params:oauth:token-type:jwt";
    private static final String FORM = "application/x-www-form-urlencoded";
    private static final String ORIGIN = "https://console.example.com";

    @AutoClose private static World world;

    @BeforeAll
    static void start() {
        world = new World(Map.of("PROVIDER_TIMEOUT", "PT10S", "CORS_ALLOWED_ORIGINS", ORIGIN));
        world.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'gone', 'oauth2', '{"token_endpoint": "http://127.0.0.1:%d/token"}');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs)
                VALUES ('acme', 'gone', 'gone', 600, '{}', '{}'),
                       ('acme', 'renamed', 'own', 600, '{"audience": "https://api.example.com"}',
                        '{"T": "AccessToken"}');
                UPDATE broker.key SET resource = 'https://mcp.example.com/api'
                 WHERE tenant = 'acme' AND name = 'api';
                UPDATE broker.key SET resource = 'https://mcp.example.com/spare'
                 WHERE tenant = 'acme' AND name = 'spare';
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:main', 'gone'), ('acme', 'ci', 'ci:main', 'renamed');
                """
                        .formatted(RunningBroker.freePort()));
        Eventually.holds(() -> world.broker().keys(world.token()).body().path("keys").size() == 4);
    }

    private static Map<String, String> form(String token, String key) {
        Map<String, String> form = new LinkedHashMap<>();
        form.put("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange");
        form.put("subject_token", token);
        form.put("subject_token_type", JWT);
        form.put("audience", key);
        return form;
    }

    private static Map<String, String> with(String name, String value) {
        Map<String, String> form = form(world.token(), "api");
        form.put(name, value);
        return form;
    }

    private static Map<String, String> without(String name) {
        Map<String, String> form = form(world.token(), "api");
        form.remove(name);
        return form;
    }

    private static Answer post(Map<String, String> form, String... headers) {
        List<String> pairs = new ArrayList<>();
        form.forEach((name, value) ->
                pairs.add(name + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8)));
        return post(String.join("&", pairs), FORM, headers);
    }

    private static Answer post(String body, String type, String... headers) {
        HttpRequest.Builder request =
                world.broker()
                        .request("/oauth2/token")
                        .header("Content-Type", type)
                        .POST(BodyPublishers.ofString(body));
        return world.broker().send(headers.length == 0 ? request : request.headers(headers));
    }

    /** The status and the word, of an error that follows RFC 6749 section 5.2. */
    private static String verdict(Answer answer) {
        String description = answer.at("/error_description");
        assertTrue(description.matches("[\\x20-\\x21\\x23-\\x5B\\x5D-\\x7E]{10,}"), description);
        assertTrue(
                description.endsWith("(request " + answer.header("X-Request-ID") + ")"),
                description);
        assertEquals("no-store", answer.header("Cache-Control"));
        assertEquals(2, answer.body().size(), answer::toString);
        return answer.status() + " " + answer.at("/error");
    }

    @Test
    void a_client_gets_an_access_token() {
        Answer answer = post(form(world.token(), "api"), "X-Request-ID", "token");
        assertEquals(200, answer.status(), answer.toString());
        assertEquals(4, answer.body().size());
        assertTrue(answer.at("/access_token").startsWith("eyJ"));
        assertEquals(
                "urn:ietf:params:oauth:token-type:access_token", answer.at("/issued_token_type"));
        assertEquals("Bearer", answer.at("/token_type"));
        long life = answer.body().path("expires_in").asLong();
        assertTrue(
                answer.body().path("expires_in").isIntegralNumber() && life > 590 && life <= 600);
        assertEquals("no-store", answer.header("Cache-Control"));
        assertEquals("no-cache", answer.header("Pragma"));
        world.assertAudited("token", "requested api", "issued api");
    }

    @Test
    void every_type_that_an_identity_token_can_have_will_do_and_whatever_the_outputs() {
        for (String type : List.of("id_token", "access_token")) {
            String name = "urn:ietf:params:oauth:token-type:" + type;
            assertEquals(200, post(with("subject_token_type", name)).status(), type);
        }
        assertTrue(post(form(world.token(), "renamed")).at("/access_token").startsWith("eyJ"));
    }

    @Test
    void what_is_unknown_or_empty_is_ignored() {
        Map<String, String> form = with("client_id", "whoever");
        form.put("unknown", "x");
        form.put("requested_token_type", "urn:ietf:params:oauth:token-type:access_token");
        for (String empty : List.of("scope", "resource", "actor_token", "client_secret")) {
            form.put(empty, "");
        }
        assertEquals(200, post(form).status());
    }

    /** As gcloud, x/oauth2, Spring Security and simple-oauth2 do by default. */
    @Test
    void client_authentication_beside_the_token_has_no_effect() {
        for (String name : List.of("client_secret", "client_assertion", "client_assertion_type")) {
            assertEquals(200, post(with(name, "x")).status(), name);
        }
        for (String pair : List.of("client:", "gcloud:secret", ":")) {
            String basic =
                    Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
            for (String scheme : List.of("Basic ", "basic  ")) {
                Answer answer = post(form(world.token(), "api"), "Authorization", scheme + basic);
                assertEquals(200, answer.status(), pair);
            }
        }
    }

    @Test
    void a_token_in_the_header_is_refused_because_it_would_have_no_effect() {
        Answer answer = post(form(world.token(), "api"), "Authorization", "Bearer YTpi");
        assertEquals("401 invalid_client", verdict(answer));
        assertEquals("Basic realm=\"mintmark\"", answer.header("WWW-Authenticate"));
    }

    private static Map<String, String> credentials(String token, String name, String value) {
        Map<String, String> form = new LinkedHashMap<>();
        form.put("grant_type", "client_credentials");
        form.put("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
        form.put("client_assertion", token);
        form.put("client_id", "ci");
        form.put(name, value);
        return form;
    }

    /**
     * As the SDKs of MCP, MSAL and azure-identity send workloads' tokens (RFC 7523 section 2.2).
     */
    @Test
    void client_credentials_with_an_assertion_name_the_key_by_audience_or_scope() {
        for (String name : List.of("audience", "scope")) {
            Answer answer = post(credentials(world.token(), name, "api"));
            assertEquals(200, answer.status(), answer::toString);
            assertTrue(answer.at("/access_token").startsWith("eyJ"));
            assertEquals("Bearer", answer.at("/token_type"));
            assertEquals("", answer.at("/issued_token_type"));
        }
        assertEquals(
                "400 invalid_target",
                verdict(post(credentials(world.token(), "scope", "api other"))));
        assertEquals("400 invalid_request", verdict(post(credentials(world.token(), "x", "y"))));
    }

    @Test
    void client_credentials_without_an_accepted_assertion_are_refused() {
        assertEquals("401 invalid_client", verdict(post(credentials("a.b.c", "scope", "api"))));
        Map<String, String> untyped = credentials(world.token(), "scope", "api");
        untyped.remove("client_assertion_type");
        assertEquals("400 invalid_request", verdict(post(untyped)));
        Map<String, String> secret = credentials(world.token(), "client_secret", "s");
        secret.remove("client_assertion");
        assertEquals("400 invalid_request", verdict(post(secret)));
    }

    private static Map<String, String> assertion(String token, String name, String value) {
        Map<String, String> form = new LinkedHashMap<>();
        form.put("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer");
        form.put("assertion", token);
        form.put(name, value);
        return form;
    }

    @Test
    void a_workload_gets_an_access_token_for_an_assertion() {
        for (String name : List.of("audience", "resource")) {
            String value = name.equals("audience") ? "api" : "https://mcp.example.com/api";
            Map<String, String> form = assertion(world.token(), name, value);
            form.put("client_id", "workload");
            form.put("scope", "orders.read");
            Answer answer = post(form, "X-Request-ID", "workload-" + name);
            assertEquals(200, answer.status(), answer.toString());
            assertEquals("Bearer", answer.at("/token_type"));
            assertTrue(answer.at("/access_token").startsWith("eyJ"));
            // RFC 6749 section 5.1; the type of an issued token is token exchange's
            assertFalse(answer.body().has("issued_token_type"));
            assertEquals("no-store", answer.header("Cache-Control"));
            world.assertAudited("workload-" + name, "requested api", "issued api");
        }
    }

    @Test
    void an_assertion_that_is_not_accepted_is_an_invalid_grant() {
        Answer answer = post(assertion(world.expiredToken(), "audience", "api"));
        assertEquals("400 invalid_grant", verdict(answer));
        assertTrue(answer.at("/error_description").contains("(token_expired)"), answer::toString);
        assertEquals("400 invalid_grant", verdict(post(assertion("no token", "audience", "api"))));
        Map<String, String> none = assertion("", "audience", "api");
        assertEquals("400 invalid_request", verdict(post(none)));
        none.put("subject_token", world.token());
        assertEquals("400 invalid_request", verdict(post(none)));
        assertEquals(
                "400 invalid_request", verdict(post(assertion(world.token(), "scope", "api"))));
    }

    @Test
    void a_resource_finds_its_key_and_must_agree_with_the_audience() {
        Map<String, String> form = without("audience");
        form.put("resource", "https://mcp.example.com/api");
        assertEquals(200, post(form).status());
        form.put("audience", "api");
        assertEquals(200, post(form).status());
        form.put("audience", "gone");
        Answer differ = post(form, "X-Request-ID", "differ");
        assertEquals("400 invalid_target", verdict(differ));
        assertTrue(
                differ.at("/error_description").contains("name different keys"), differ::toString);
        world.assertAudited("differ");
        for (String bad :
                List.of(
                        "orders",
                        "/orders",
                        "https://mcp.example.com/api#x",
                        "https://mcp example")) {
            assertEquals("400 invalid_target", verdict(post(with("resource", bad))), bad);
        }
        // RFC 3986 sections 6.2.2 and 6.2.3
        form.remove("audience");
        for (String same :
                List.of(
                        "HTTPS://MCP.example.com/api",
                        "https://mcp.example.com:443/api",
                        "https://mcp.example.com/%61pi",
                        "https://mcp.example.com/x/../api")) {
            form.put("resource", same);
            assertEquals(200, post(form).status(), same);
        }
        for (String other :
                List.of("https://mcp.example.com/api/", "https://mcp.example.com/API")) {
            form.put("resource", other);
            assertEquals("400 invalid_target", verdict(post(form)), other);
        }
    }

    @Test
    void a_type_of_token_that_the_client_would_not_get_is_refused_by_name() {
        String types = "urn:ietf:params:oauth:token-type:";
        for (String type : List.of("saml2", "refresh_token", "id-jag", "id_token", "x")) {
            Answer answer = post(with("requested_token_type", types + type));
            assertEquals("400 invalid_request", verdict(answer), type);
            assertTrue(
                    answer.at("/error_description").contains("requested_token_type"),
                    answer::toString);
        }
        Answer jwt = post(with("requested_token_type", JWT));
        assertEquals("200 " + JWT, jwt.status() + " " + jwt.at("/issued_token_type"));

        Map<String, String> gone = form(world.token(), "gone");
        gone.put("requested_token_type", JWT);
        Answer other = post(gone, "X-Request-ID", "other-type");
        assertEquals("400 invalid_request", verdict(other));
        assertTrue(other.at("/error_description").contains("type is oauth2"), other::toString);
        world.assertAudited("other-type");
    }

    @Test
    void wishes_that_the_broker_does_not_fulfil_are_refused_by_name() {
        Answer details = post(with("authorization_details", "[{\"type\": \"x\"}]"));
        assertEquals("400 invalid_request", verdict(details));
        assertTrue(
                details.at("/error_description").contains("authorization_details"),
                details::toString);
        Answer proof = post(form(world.token(), "api"), "DPoP", "eyJ");
        assertEquals("400 invalid_request", verdict(proof));
        assertTrue(proof.at("/error_description").contains("DPoP"), proof::toString);
    }

    @Test
    void a_client_that_asks_for_a_scope_learns_the_granted_one() {
        assertEquals("api", post(with("scope", "admin")).at("/scope"));
        assertFalse(post(form(world.token(), "api")).body().has("scope"));
    }

    @Test
    void a_resource_without_a_key_and_one_that_is_not_granted_are_alike() {
        String stranger = world.issuer().sign("ci:stranger", World.AUDIENCE);
        for (String token : List.of(world.token(), stranger)) {
            List<String> answers =
                    List.of("spare", "nothing").stream()
                            .map(key -> {
                                String uri = "https://mcp.example.com/" + key;
                                Map<String, String> form = assertion(token, "resource", uri);
                                Answer answer = post(form, "X-Request-ID", "uri");
                                assertEquals("400 invalid_target", verdict(answer));
                                return answer.toString().replace(uri, "URI");
                            })
                            .distinct()
                            .toList();
            assertEquals(1, answers.size(), answers::toString);
        }
        // nor does the pair tell a stranger which key a resource belongs to
        List<String> pairs =
                List.of("spare", "api").stream()
                        .map(key -> {
                            Map<String, String> form = assertion(stranger, "audience", key);
                            form.put("resource", "https://mcp.example.com/spare");
                            return post(form, "X-Request-ID", "pair")
                                    .toString()
                                    .replace(key, "KEY");
                        })
                        .distinct()
                        .toList();
        assertEquals(1, pairs.size(), pairs::toString);
    }

    @Test
    void parameters_that_are_not_as_they_should_be_are_told() {
        assertEquals("400 invalid_request", verdict(post(without("grant_type"))));
        assertEquals("400 unsupported_grant_type", verdict(post(with("grant_type", "password"))));
        assertEquals("400 invalid_request", verdict(post(without("subject_token"))));
        assertEquals("400 invalid_request", verdict(post(without("subject_token_type"))));
        assertEquals(
                "400 invalid_request",
                verdict(
                        post(
                                with(
                                        "subject_token_type",
                                        "urn:ietf:params:oauth:token-type:saml2"))));
        assertEquals("400 invalid_request", verdict(post(without("audience"))));
        assertEquals(
                "400 invalid_target", verdict(post(with("audience", "https://api.example.com"))));
        assertEquals("400 invalid_request", verdict(post(with("actor_token", "x"))));
        for (String name : List.of("api/", "https://b/1a", "api/x y", "/")) {
            assertEquals("400 invalid_target", verdict(post(with("audience", name))), name);
        }
    }

    /** Thousands of names with one hash code would take milliseconds. */
    @Test
    void more_than_a_hundred_parameters_are_refused() {
        Map<String, String> form = form(world.token(), "api");
        for (int i = form.size(); i < 100; i++) {
            form.put("unknown" + i, "x");
        }
        assertEquals(200, post(form).status());

        form.put("further", "x");
        Answer answer = post(form);
        assertEquals("400 invalid_request", verdict(answer));
        assertTrue(answer.at("/error_description").contains("100 parameters"), answer::toString);
    }

    @Test
    void nothing_may_stand_there_twice() {
        for (String twice :
                List.of("audience=api&audience=b", "x=1&x=1", "x=1&x=2", "x&x=", "%78=1&x=2")) {
            Answer answer = post(twice, FORM);
            assertEquals("400 invalid_request", verdict(answer));
            assertTrue(answer.at("/error_description").contains("twice"), answer::toString);
        }
    }

    /** RFC 8693 section 2.1 and RFC 8707 section 2 allow several. */
    @Test
    void an_audience_or_resource_that_is_sent_twice_is_one() {
        String form =
                form(world.token(), "api").entrySet().stream()
                        .map(one -> one.getKey() + "=" + one.getValue())
                        .collect(Collectors.joining("&"));
        String resource = "&resource=https%3A%2F%2Fmcp.example.com%2Fapi";
        Answer answer = post(form + "&audience=api" + resource + resource, FORM);
        assertEquals(200, answer.status(), answer.toString());
    }

    @Test
    void what_is_no_form_is_refused() {
        for (String body :
                List.of("a=%", "a=%4", "a=%zz", "a=%ff", "%c3%28=1", "a=%ed%a0%80", "é")) {
            assertEquals(
                    "400 invalid_request", verdict(post(body, FORM + "; charset=UTF-8")), body);
        }
        assertEquals("400 invalid_request", verdict(post("", FORM)));
        for (String type :
                List.of("application/json", "multipart/form-data", FORM + ";charset=latin1", "x")) {
            assertEquals("415 invalid_request", verdict(post("{}", type)), type);
        }
    }

    @Test
    void a_form_without_end_is_not_read() {
        assertEquals("413 invalid_request", verdict(post("x=" + "a".repeat(1_000_000), FORM)));
    }

    @Test
    void the_query_does_not_count() {
        Answer answer =
                world.broker()
                        .send(
                                world.broker()
                                        .request("/oauth2/token?subject_token=" + world.token())
                                        .header("Content-Type", FORM)
                                        .POST(BodyPublishers.ofString("audience=api")));
        assertEquals("400 invalid_request", verdict(answer));
    }

    @Test
    void a_token_that_is_not_accepted_is_told_with_the_reason_and_is_on_record() {
        String expired = world.expiredToken();
        Answer answer = post(form(expired, "api"), "X-Request-ID", "expired");
        assertEquals("400 invalid_request", verdict(answer));
        assertTrue(answer.at("/error_description").contains("(token_expired)"), answer::toString);
        Eventually.holds(
                () -> world.auditedFor("expired").equals(List.of("rejected token_expired")));
    }

    @Test
    void a_token_of_the_brokers_own_is_worth_nothing() {
        String own = post(form(world.token(), "api")).at("/access_token");
        Answer answer = post(form(own, "api"));
        assertEquals("400 invalid_request", verdict(answer));
        assertTrue(answer.at("/error_description").contains("(unknown_issuer)"), answer::toString);
    }

    @Test
    void a_key_that_is_not_there_and_one_that_is_not_granted_are_alike() {
        List<String> answers =
                List.of("spare", "nothing").stream()
                        .map(key -> {
                            Answer answer = post(form(world.token(), key), "X-Request-ID", "alike");
                            assertEquals("400 invalid_target", verdict(answer));
                            return answer.toString().replace(key, "KEY");
                        })
                        .distinct()
                        .toList();
        assertEquals(1, answers.size(), answers::toString);
        world.assertAudited("alike", "denied spare not_granted", "denied nothing no_such_key");
    }

    @Test
    void a_stranger_learns_nothing_of_keys() {
        String stranger = world.issuer().sign("ci:stranger", World.AUDIENCE);
        List<String> answers =
                List.of("api", "deploy", "nothing").stream()
                        .map(key ->
                                post(form(stranger, key), "X-Request-ID", "x")
                                        .toString()
                                        .replace(key, "KEY"))
                        .distinct()
                        .toList();
        assertEquals(1, answers.size(), answers::toString);
    }

    @Test
    void subjects_in_descriptions_can_not_break_out() {
        String odd = world.issuer().sign("ci:\"\\é", World.AUDIENCE);
        assertEquals("400 invalid_target", verdict(post(form(odd, "api"))));
    }

    @Test
    void a_granted_key_of_another_type_is_refused_before_anything_is_minted() {
        Answer answer = post(form(world.token(), "deploy"), "X-Request-ID", "type");
        assertEquals("400 invalid_target", verdict(answer));
        assertTrue(answer.at("/error_description").contains("aws-sts"), answer::toString);
        world.assertAudited("type");
    }

    @Test
    void a_provider_that_fails_is_a_server_error() {
        Answer answer = post(form(world.token(), "gone"), "X-Request-ID", "gone");
        assertEquals("500 server_error", verdict(answer));
        assertTrue(
                answer.at("/error_description").contains("(provider_unreachable)"),
                answer::toString);
        world.assertAudited("gone", "requested gone", "failed gone provider_unreachable");
    }

    @Test
    void other_methods_are_refused() {
        for (String method : List.of("GET", "PUT", "OPTIONS")) {
            Answer answer =
                    world.broker()
                            .send(
                                    world.broker()
                                            .request("/oauth2/token")
                                            .method(method, BodyPublishers.noBody()));
            assertEquals("405 invalid_request", verdict(answer));
            assertEquals("POST", answer.header("Allow"));
        }
    }

    @Test
    void browsers_are_not_let_in() {
        Answer answer = post(form(world.token(), "api"), "Origin", ORIGIN);
        assertEquals("", answer.header("Access-Control-Allow-Origin"));
        assertEquals("", answer.header("Vary"));
    }

    @Test
    void a_client_finds_it_by_its_metadata() {
        Answer answer =
                world.broker().get("/.well-known/oauth-authorization-server", "Origin", ORIGIN);
        assertEquals(200, answer.status());
        assertEquals(world.broker().url().toString(), answer.at("/issuer"));
        assertEquals(world.broker().url() + "/oauth2/token", answer.at("/token_endpoint"));
        assertEquals(world.broker().url() + "/oauth2/token", answer.at("/authorization_endpoint"));
        Answer ofTenant = world.broker().get("/tenants/acme/.well-known/openid-configuration");
        assertEquals(answer.at("/token_endpoint"), ofTenant.at("/token_endpoint"));
        assertEquals(answer.at("/token_endpoint"), ofTenant.at("/authorization_endpoint"));
        assertTrue(answer.body().path("response_types_supported").isArray());
        assertEquals(List.of(), answer.texts("/response_types_supported"));
        assertEquals(List.of("none"), answer.texts("/token_endpoint_auth_methods_supported"));
        assertEquals(
                List.of(
                        "urn:ietf:params:oauth:grant-type:token-exchange",
                        "urn:ietf:params:oauth:grant-type:jwt-bearer",
                        "client_credentials"),
                answer.texts("/grant_types_supported"));
        assertEquals("", answer.header("Access-Control-Allow-Origin"));
    }

    @Test
    void the_limits_of_the_address_count_here_and_not_for_the_metadata() {
        try (World strict =
                new World(Map.of("RATE_LIMIT_ENABLED", "true", "RATE_LIMIT_REQUESTS", "1"))) {
            for (int i = 0; i < 3; i++) {
                Answer metadata = strict.broker().get("/.well-known/oauth-authorization-server");
                assertEquals(200, metadata.status());
                assertEquals("", metadata.header("X-RateLimit-Limit"));
            }
            HttpRequest.Builder request =
                    strict.broker()
                            .request("/oauth2/token")
                            .header("Content-Type", FORM)
                            .POST(BodyPublishers.ofString("a=b"));
            assertEquals(400, strict.broker().send(request).status());
            Answer answer = strict.broker().send(request);
            assertEquals("429 temporarily_unavailable", verdict(answer));
            assertFalse(answer.header("Retry-After").isEmpty());
        }
    }
}
