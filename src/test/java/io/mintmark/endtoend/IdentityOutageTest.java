package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.broker.identity.IdpStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;

/** An identity provider of the broker's that is down, and a broker without signing keys. */
class IdentityOutageTest {
    private static final String GRANT =
            """
            UPDATE broker.access_provider
               SET shared_identity = true, allowed_targets = '{arn:aws:iam::123456789012:role/deploy}'
             WHERE name = 'aws';
            """;

    @AutoClose private final IdpStandIn idp = IdpStandIn.start();

    private World world() {
        Map<String, String> settings = new HashMap<>();
        settings.put("BROKER_URL", "");
        settings.put("BROKER_SIGNING_KEYS_DIR", "");
        settings.put("BROKER_IDP_TYPE", "client-credentials");
        settings.put("BROKER_IDP_TOKEN_ENDPOINT", idp.tokenEndpoint());
        settings.put("BROKER_IDP_CLIENT_ID", IdpStandIn.CLIENT);
        settings.put("BROKER_IDP_CLIENT_SECRET", IdpStandIn.SECRET);
        World world = new World(settings);
        world.admin(GRANT);
        return world;
    }

    @Test
    void the_broker_starts_without_its_identity_provider_and_gets_well_with_it() {
        idp.pages().goDown();
        try (World world = world()) {
            Answer health = world.broker().get("/health");
            assertEquals(503, health.status());
            assertEquals("unhealthy", health.at("/checks/broker_idp"));
            assertEquals("healthy", health.at("/checks/database"));
            Answer keys = world.broker().keys(world.token());
            assertEquals(200, keys.status(), keys.toString());
            assertEquals(
                    "500 CREDENTIAL_MINT_FAILED provider_unreachable",
                    world.broker().mint(world.token(), "deploy").verdict());

            idp.pages().comeBack();
            Eventually.holds(() -> world.broker().get("/health").status() == 200);
            // the provider of this world trusts the broker's own issuer, and says so
            assertEquals(
                    "500 CREDENTIAL_MINT_FAILED broker_identity_rejected",
                    world.broker().mint(world.token(), "deploy").verdict());
        }
    }

    @Test
    void a_client_that_is_not_accepted_is_told_by_its_word() {
        idp.always(401, "{\"error\":\"invalid_client\",\"error_description\":\"no such client\"}");
        try (World world = world()) {
            assertEquals(
                    "500 CREDENTIAL_MINT_FAILED broker_identity_rejected",
                    world.broker().mint(world.token(), "deploy").verdict());
            world.assertRows(
                    "SELECT detail FROM audit.event WHERE kind = 'failed'",
                    "the broker's identity provider: invalid_client: no such client (HTTP 401)");
            assertFalse(
                    world.broker().get("/health").toString().contains("no such client"),
                    "strangers read the health report");
        }
    }

    @Test
    void without_signing_keys_nothing_is_published_and_no_access_token_is_signed() {
        try (World world = world()) {
            Answer keys = world.broker().get("/.well-known/jwks.json");
            assertEquals("404 NOT_FOUND ", keys.verdict());
            assertEquals(
                    404,
                    world.broker().get("/tenants/acme/.well-known/openid-configuration").status());
            assertEquals(
                    "500 CREDENTIAL_MINT_FAILED provider_misconfigured",
                    world.broker().mint(world.token(), "api").verdict());
            world.assertRows(
                    "SELECT detail FROM audit.event WHERE kind = 'failed'",
                    "the broker has no signing keys: set BROKER_SIGNING_KEYS_DIR or"
                            + " BROKER_SIGNING_KEYS, and BROKER_URL. The identity that BROKER_IDP_TYPE selects does not replace signing keys");
        }
    }
}
