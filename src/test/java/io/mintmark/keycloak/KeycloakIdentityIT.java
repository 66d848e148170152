package io.mintmark.keycloak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jwt.JWTClaimsSet;

import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.sts.StsStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A realm as the identity provider of the broker itself ({@code client-credentials}). The provider
 * is a storage that verifies the realm's tokens with the keys that the realm published.
 */
class KeycloakIdentityIT {
    private static final String HEALTHY = "healthy";
    private static final String UNHEALTHY = "unhealthy";

    /** Half a minute goes by between tries at most; the rest is for the try itself. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(60);

    private static KeycloakRealm realm;
    private static String keys;
    @AutoClose private static StsStandIn storage;

    @BeforeAll
    static void start() {
        Keycloak keycloak = Keycloak.started();
        realm = keycloak.realm("identity");
        storage = StsStandIn.minio(realm.issuer(), () -> keys, "policy");
        keycloak.make(realm, "identity.json", Map.of("storage", storage.endpoint()));
        keys = realm.keySet();
    }

    private static StorageBroker broker(String client, Map<String, String> settings) {
        return new StorageBroker(storage, client, settings);
    }

    private static StorageBroker hasty() {
        return broker(
                "hasty",
                Map.of("BROKER_IDP_ISSUER", realm.issuer(), "BROKER_IDP_SCOPE", "storage"));
    }

    /** The realm's token that the storage was shown last. */
    private static String shown() {
        return storage.calls().getLast().parameter("WebIdentityToken").orElseThrow();
    }

    private static void assertMints(StorageBroker broker) {
        Answer answer = broker.mint();
        assertEquals(200, answer.status(), answer.toString());
    }

    @ParameterizedTest
    @CsvSource({
        "client_secret_basic, BROKER_IDP_ISSUER",
        "client_secret_basic, BROKER_IDP_TOKEN_ENDPOINT",
        "client_secret_post, BROKER_IDP_ISSUER"
    })
    void the_storage_accepts_the_realms_token_for_a_client_with_a_secret(String auth, String by) {
        Map<String, String> settings =
                Map.of(
                        "BROKER_IDP_CLIENT_AUTH",
                        auth,
                        "BROKER_IDP_SCOPE",
                        "storage",
                        by,
                        where(by));
        try (StorageBroker broker = broker("mintmark", settings)) {
            assertMints(broker);
            JWTClaimsSet claims = KeycloakRealm.claims(shown());
            assertEquals("mintmark", claims.getClaim("azp"));
            assertEquals(List.of(storage.endpoint()), claims.getAudience());
            assertEquals(HEALTHY, broker.health());
        }
    }

    /** Keycloak fetches the broker's keys, so the broker is there before its client works. */
    @ParameterizedTest
    @ValueSource(strings = {"BROKER_IDP_ISSUER", "BROKER_IDP_TOKEN_ENDPOINT"})
    void the_brokers_own_key_proves_it_once_the_realm_knows_where_that_is_published(String by) {
        Map<String, String> settings =
                Map.of(
                        "BROKER_IDP_CLIENT_AUTH",
                        "private_key_jwt",
                        "BROKER_IDP_SCOPE",
                        "storage",
                        by,
                        where(by));
        try (StorageBroker broker = broker("keyed", settings)) {
            assertEquals(
                    "500 CREDENTIAL_MINT_FAILED broker_identity_rejected", broker.mint().verdict());
            assertEquals(UNHEALTHY, broker.health());
            String jwks = broker.running().url() + "/.well-known/jwks.json";
            realm.change("keyed", client -> client.withObject("/attributes").put("jwks.url", jwks));
            Eventually.holds(() -> broker.health().equals(HEALTHY));
            assertMints(broker);
            assertEquals("keyed", KeycloakRealm.claims(shown()).getClaim("azp"));
        } finally {
            realm.change("keyed", client -> client.withObject("/attributes").put("jwks.url", ""));
        }
    }

    private static String where(String setting) {
        return setting.equals("BROKER_IDP_ISSUER") ? realm.issuer() : realm.tokenEndpoint();
    }

    @Test
    void the_parameter_audience_does_nothing_a_scope_with_a_mapper_does() {
        Map<String, String> settings =
                Map.of(
                        "BROKER_IDP_ISSUER", realm.issuer(),
                        "BROKER_IDP_AUDIENCE", storage.endpoint());
        try (StorageBroker broker = broker("mintmark", settings)) {
            assertEquals(
                    "500 CREDENTIAL_MINT_FAILED broker_identity_rejected", broker.mint().verdict());
            assertEquals(List.of(), KeycloakRealm.claims(shown()).getAudience());
            assertEquals(HEALTHY, broker.health(), "a token was to be had");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    nobody   | storage | broker_identity_rejected | invalid_client: Invalid client or Invalid client credentials (HTTP 401)
                    keyed    | storage | broker_identity_rejected | invalid_client: Parameter client_assertion_type is missing (HTTP 400)
                    mintmark | nothing | provider_misconfigured   | invalid_scope: Invalid scopes: nothing (HTTP 400)
                    """)
    void what_the_realm_refuses_is_told(String client, String scope, String reason, String words) {
        Map<String, String> settings =
                Map.of("BROKER_IDP_ISSUER", realm.issuer(), "BROKER_IDP_SCOPE", scope);
        try (StorageBroker broker = broker(client, settings)) {
            assertEquals("500 CREDENTIAL_MINT_FAILED " + reason, broker.mint().verdict());
            assertEquals("the broker's identity provider: " + words, broker.detail());
            assertEquals(UNHEALTHY, broker.health());
        }
    }

    @Test
    void a_realm_that_is_not_there_has_no_discovery_document() {
        try (StorageBroker broker =
                broker("mintmark", Map.of("BROKER_IDP_ISSUER", realm.issuer() + "x"))) {
            assertEquals("500 CREDENTIAL_MINT_FAILED provider_error", broker.mint().verdict());
            assertTrue(broker.detail().endsWith("answered with status 404"), broker.detail());
            assertEquals(UNHEALTHY, broker.health());
        }
    }

    @Test
    void a_new_secret_is_noticed_when_the_token_in_hand_has_expired() {
        try (StorageBroker broker = hasty()) {
            assertMints(broker);
            realm.change("hasty", client -> client.put("secret", "another"));
            assertMints(broker);
            assertEquals(HEALTHY, broker.health());
            Eventually.holds(() -> broker.health().equals(UNHEALTHY));
            assertEquals(
                    "500 CREDENTIAL_MINT_FAILED broker_identity_rejected", broker.mint().verdict());
            assertEquals(
                    "the broker's identity provider: unauthorized_client: Invalid client or Invalid"
                            + " client credentials (HTTP 401)",
                    broker.detail());
            realm.change("hasty", client -> client.put("secret", "hasty-secret"));
            Eventually.holds(() -> broker.health().equals(HEALTHY));
            assertMints(broker);
        }
    }

    @Test
    void the_token_in_hand_is_used_while_keycloak_is_down_and_the_next_comes_when_it_is_back() {
        try (StorageBroker broker = hasty()) {
            assertMints(broker);
            String before = shown();
            realm.keycloak()
                    .downDuring(() -> {
                        assertMints(broker);
                        assertEquals(before, shown());
                        Eventually.holds(() -> broker.health().equals(UNHEALTHY));
                        assertEquals(
                                "500 CREDENTIAL_MINT_FAILED provider_unreachable",
                                broker.mint().verdict());
                    });
            Eventually.holds(LONGEST_PAUSE, () -> broker.health().equals(HEALTHY));
            assertMints(broker);
            assertNotEquals(before, shown());
        }
    }
}
