package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** {@code POST /oauth2/token} as the libraries of clouds and frameworks use it. */
class TokenExchangeByLibrariesTest {
    @AutoClose private static World world;

    @BeforeAll
    static void start() {
        world = new World();
        world.admin(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'scoped', 'own', 600,
                        '{"audience": "https://api.example.com", "claims": {"scope": "read write"}}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:main', 'scoped');
                """);
        Eventually.holds(() -> world.broker().keys(world.token()).body().path("keys").size() == 3);
    }

    private static Map<String, String> form(String token, String key) {
        Map<String, String> form = new LinkedHashMap<>();
        form.put("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange");
        form.put("subject_token", token);
        form.put("subject_token_type", "urn:ietf:params:oauth:token-type:jwt");
        form.put("audience", key);
        return form;
    }

    private static Map<String, String> with(String name, String value) {
        Map<String, String> form = form(world.token(), "api");
        form.put(name, value);
        return form;
    }

    private static Answer post(Map<String, String> form) {
        return world.broker()
                .send(
                        world.broker()
                                .request("/oauth2/token")
                                .header("Content-Type", "application/x-www-form-urlencoded")
                                .POST(BodyPublishers.ofString(StsForms.encoded(form))));
    }

    private static String error(Answer answer) {
        return answer.status() + " " + answer.at("/error");
    }

    @Test
    void the_scope_is_the_granted_one_whatever_the_client_asks_for() {
        assertEquals("read write", post(form(world.token(), "scoped")).at("/scope"));
        Map<String, String> form = form(world.token(), "scoped");
        form.put("scope", "admin");
        assertEquals("read write", post(form).at("/scope"));
        Answer without = post(with("scope", "admin"));
        assertEquals(200, without.status(), without.toString());
        assertEquals("api", without.at("/scope"), "the key's name, when its type has no scope");
    }

    @Test
    void the_scope_is_no_output_of_the_interface() {
        assertEquals(
                2,
                world.broker()
                        .mint(world.token(), "scoped")
                        .body()
                        .at("/credentials/scoped")
                        .size());
    }

    @Test
    void the_key_may_be_the_last_part_of_a_longer_audience() {
        for (String audience :
                List.of(
                        "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/api",
                        "https://mintmark.example.com/api",
                        "/api")) {
            Answer answer = post(with("audience", audience));
            assertEquals(200, answer.status(), audience);
        }
        Answer denied = post(with("audience", "https://mintmark.example.com/spare"));
        assertEquals("400 invalid_target", error(denied));
    }

    @Test
    void an_access_token_that_is_no_jwt_is_not_accepted() {
        Map<String, String> form = form("opaque-token", "api");
        form.put("subject_token_type", "urn:ietf:params:oauth:token-type:access_token");
        Answer answer = post(form);
        assertEquals("400 invalid_request", error(answer));
        assertTrue(answer.at("/error_description").contains("(malformed_jwt)"), answer::toString);
    }

    @Test
    void a_client_finds_it_by_the_openid_document_too() {
        Answer answer = world.broker().get("/.well-known/openid-configuration");
        assertEquals(world.broker().url() + "/oauth2/token", answer.at("/token_endpoint"));
        assertEquals(List.of("none"), answer.texts("/token_endpoint_auth_methods_supported"));
        assertEquals(
                List.of(
                        "urn:ietf:params:oauth:grant-type:token-exchange",
                        "urn:ietf:params:oauth:grant-type:jwt-bearer",
                        "client_credentials"),
                answer.texts("/grant_types_supported"));
        Answer tenants = world.broker().get("/tenants/acme/.well-known/openid-configuration");
        assertEquals(answer.at("/token_endpoint"), tenants.at("/token_endpoint"));
    }
}
