package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.util.List;

/** Where the people of a tenant log in, for clients that know nothing but the broker's address. */
class LoginsTest {
    private static final String METADATA = "/.well-known/oauth-protected-resource";
    private static final String OF_ACME = "/tenants/acme" + METADATA;
    private static final String LOGIN =
            "UPDATE broker.identity_provider SET login_client_id = 'mintmark-cli' WHERE name = 'ci';";

    @AutoClose private final World world = new World();

    private Answer get(String path) {
        return world.broker().get(path);
    }

    @Test
    void the_login_of_a_tenant_is_public() {
        assertEquals(404, get(OF_ACME).status());
        world.admin(LOGIN);
        Eventually.holds(() -> get(OF_ACME).status() == 200);
        Answer answer = get(OF_ACME);
        assertEquals(world.broker().url() + "/tenants/acme", answer.at("/resource"));
        assertEquals(List.of(world.issuer().url()), answer.texts("/authorization_servers"));
        assertEquals(List.of("header"), answer.texts("/bearer_methods_supported"));
        assertEquals("ci", answer.at("/logins/0/identity_provider"));
        assertEquals(world.issuer().url(), answer.at("/logins/0/issuer"));
        assertEquals("mintmark-cli", answer.at("/logins/0/client_id"));
        assertEquals("public, max-age=300", answer.header("Cache-Control"));
    }

    @Test
    void the_broker_shows_the_login_of_its_only_tenant_and_not_which_of_several_it_has() {
        world.admin(LOGIN);
        Eventually.holds(() -> get(METADATA).status() == 200);
        assertEquals(world.broker().url().toString(), get(METADATA).at("/resource"));
        assertEquals("mintmark-cli", get(METADATA).at("/logins/0/client_id"));
        world.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('globex');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, login_client_id)
                VALUES ('globex', 'globex', 'https://sso.globex.example', '{mintmark}', 'cli');
                """);
        Eventually.holds(() -> get(METADATA).status() == 404);
        assertEquals("cli", get("/tenants/globex" + METADATA).at("/logins/0/client_id"));
        assertEquals("mintmark-cli", get(OF_ACME).at("/logins/0/client_id"));
    }

    @Test
    void a_login_needs_no_listing_and_ends_with_its_identity_provider() {
        world.admin(LOGIN + "UPDATE broker.identity_provider SET listed = false;");
        Eventually.holds(() -> get(OF_ACME).status() == 200);
        world.admin("UPDATE broker.identity_provider SET enabled = false;");
        Eventually.holds(() -> get(OF_ACME).status() == 404);
    }

    @Test
    void a_tenant_without_a_login_looks_like_one_that_does_not_exist() {
        assertEquals(
                get("/tenants/nobody" + METADATA).at("/message").replaceAll("request .*", ""),
                get(OF_ACME).at("/message").replaceAll("request .*", ""));
        assertEquals(404, get("/tenants/NOBODY" + METADATA).status());
    }
}
