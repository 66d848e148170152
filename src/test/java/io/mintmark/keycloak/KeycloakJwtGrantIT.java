package io.mintmark.keycloak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.nimbusds.jwt.JWTClaimsSet;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Keycloak's JWT authorization grant (RFC 7523): the broker's token is the grant. */
class KeycloakJwtGrantIT {
    @TempDir static Path secrets;

    private static KeycloakRealm realm;
    @AutoClose private static ExchangeBroker broker;

    @BeforeAll
    static void start() {
        Keycloak keycloak = Keycloak.started();
        broker = new ExchangeBroker(secrets, Map.of());
        realm =
                keycloak.make(
                        keycloak.realm("grant"),
                        "grant.json",
                        Map.of("issuer", broker.running().url().toString(), "jwks", broker.jwks()));
        provider("granted", "mintmark", "mintmark", realm.issuer());
        provider("wrong", "mintmark", "wrong", realm.issuer());
        provider("stranger", "stranger", "stranger", realm.issuer());
        provider("careless", "mintmark", "mintmark", "https://elsewhere.example");
        List.of("granted", "wrong", "stranger", "careless")
                .forEach(name -> broker.key(name, name, 300, "{\"scope\": \"to-api\"}"));
        broker.key("unlinked", "granted", 300, "{\"scope\": \"to-api\"}");
        broker.key("scopeless", "granted", 300, "{\"scope\": \"none\"}");
    }

    private static void provider(String name, String client, String secret, String audience) {
        broker.provider(
                name,
                realm,
                false,
                """
                "grant": "jwt-bearer", "client_id": "%s", "client_secret": {"file": "%s"},
                "subject_audience": "%s"
                """
                        .formatted(client, secret, audience));
    }

    @Test
    void the_brokers_token_is_a_grant_for_the_user_that_is_linked_to_the_key() {
        JWTClaimsSet claims = KeycloakRealm.claims(broker.minted("granted"));

        assertEquals(List.of("api"), claims.getAudience());
        assertEquals(
                realm.ask("GET", "/users?username=deployer", "").at("/0/id").asText(),
                claims.getSubject());
    }

    @Test
    void each_mint_has_a_grant_of_its_own() {
        assertNotEquals(broker.minted("granted"), broker.minted("granted"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    wrong     | broker_identity_rejected | unauthorized_client: Invalid client or Invalid client credentials (HTTP 401)
                    stranger  | broker_identity_rejected | invalid_grant: JWT Authorization Grant is not supported for the requested client (HTTP 400)
                    careless  | broker_identity_rejected | invalid_grant: Invalid token audience (HTTP 400)
                    unlinked  | broker_identity_rejected | invalid_grant: User not found (HTTP 400)
                    scopeless | provider_misconfigured   | invalid_scope: Invalid scopes: none (HTTP 400)
                    """)
    void what_the_realm_refuses_is_told(String key, String reason, String words) {
        assertEquals("500 CREDENTIAL_MINT_FAILED " + reason, broker.mint(key).verdict());
        assertEquals("failed %s %s".formatted(reason, words), broker.outcome(key));
    }
}
