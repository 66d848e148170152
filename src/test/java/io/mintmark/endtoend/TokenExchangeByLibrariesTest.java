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
                UPDATE broker.key SET resource = 'https://' || name || '.example.com'
                 WHERE tenant = 'acme' AND name IN ('api', 'spare');
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
        return post("/oauth2/token", form);
    }

    private static Answer post(String path, Map<String, String> form) {
        return world.broker()
                .send(
                        world.broker()
                                .request(path)
                                .header("Content-Type", "application/x-www-form-urlencoded")
                                .POST(BodyPublishers.ofString(StsForms.encoded(form))));
    }

    /** As azure-identity does with the authority {@code https://BROKER/tenants}. */
    private static Answer byAzure(String tenant, String token, String name, String value) {
        Map<String, String> form = new LinkedHashMap<>();
        form.put("grant_type", "client_credentials");
        form.put("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
        form.put("client_assertion", token);
        form.put("client_id", "any");
        form.put("scope", "api/.default");
        form.put(name, value);
        return post("/tenants/" + tenant + "/oauth2/v2.0/token", form);
    }

    private static Answer byAzure(String scope) {
        return byAzure("acme", world.token(), "scope", scope);
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
    void a_default_scope_names_the_key_or_its_resource() {
        for (String scope :
                List.of(
                        "api",
                        "api/.default",
                        "https://api.example.com/.default",
                        "https://api.example.com//.default")) {
            Answer answer = byAzure(scope);
            assertEquals(200, answer.status(), scope + answer);
            assertEquals("api", answer.at("/scope"));
        }
        for (String scope :
                List.of(
                        "spare/.default",
                        "https://spare.example.com/.default",
                        "https://nothing.example.com/.default",
                        "https://api.example.com",
                        "https://api.example.com/.default https://spare.example.com/.default",
                        "/.default")) {
            assertEquals("400 invalid_target", error(byAzure(scope)), scope);
        }
    }

    @Test
    void a_default_scope_decides_only_where_nothing_else_names_the_key() {
        Answer scoped = byAzure("acme", world.token(), "audience", "scoped");
        assertEquals("read write", scoped.at("/scope"), scoped::toString);
        Answer spare = byAzure("acme", world.token(), "resource", "https://spare.example.com");
        assertEquals("400 invalid_target", error(spare));
        Map<String, String> exchange = form(world.token(), "");
        exchange.put("scope", "api/.default");
        assertEquals("400 invalid_request", error(post(exchange)));
    }

    @Test
    void the_tenant_of_the_path_must_be_that_of_the_token() {
        for (String tenant : List.of("other", "ACME", "acme.x")) {
            Answer answer = byAzure(tenant, world.token(), "scope", "api");
            assertEquals("400 invalid_request", error(answer), tenant);
            assertTrue(
                    answer.at("/error_description").contains("use /tenants/acme"),
                    answer::toString);
            // who has no token of the tenant doesn't learn its name
            Answer stranger = byAzure(tenant, world.expiredToken(), "scope", "api");
            assertEquals("401 invalid_client", error(stranger));
            assertTrue(
                    stranger.at("/error_description").contains("(token_expired)"),
                    stranger::toString);
        }
    }

    @Test
    void the_path_of_a_tenant_has_one_method_too() {
        for (String method : List.of("GET", "PUT", "OPTIONS")) {
            Answer answer =
                    world.broker()
                            .send(
                                    world.broker()
                                            .request("/tenants/acme/oauth2/v2.0/token")
                                            .method(method, BodyPublishers.noBody()));
            assertEquals("405 invalid_request", error(answer), method);
            assertEquals("POST", answer.header("Allow"));
        }
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
