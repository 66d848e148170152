package io.mintmark.keycloak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jwt.JWTClaimsSet;

import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Keycloak's standard token exchange: the broker's own token comes from the realm (client {@code
 * mintmark}), and the realm exchanges it for one to the client {@code api}.
 */
class KeycloakStandardExchangeIT {
    private static final String SECRET =
            "\"client_id\": \"%s\", \"client_secret\": {\"file\": \"%s\"}";
    private static final String TO_API = "{\"audience\": \"api\", \"scope\": \"to-api\"}";

    @TempDir static Path secrets;

    private static KeycloakRealm realm;
    @AutoClose private static ExchangeBroker broker;

    @BeforeAll
    static void start() {
        Keycloak keycloak = Keycloak.started();
        realm = keycloak.realm("standard");
        KeycloakRealm other = keycloak.realm("other");
        broker =
                new ExchangeBroker(
                        secrets,
                        Map.of(
                                "BROKER_IDP_TYPE", "client-credentials",
                                "BROKER_IDP_ISSUER", realm.issuer(),
                                "BROKER_IDP_CLIENT_ID", "mintmark",
                                "BROKER_IDP_CLIENT_SECRET", "mintmark-secret"));
        Map<String, String> places =
                Map.of("issuer", broker.running().url().toString(), "jwks", broker.jwks());
        keycloak.make(realm, "exchange.json", places);
        keycloak.make(other, "exchange.json", places);
        broker.provider("secret", realm, true, SECRET.formatted("mintmark", "mintmark"));
        broker.provider(
                "keyed",
                realm,
                true,
                "\"client_id\": \"keyed\", \"client_auth\": \"private_key_jwt\"");
        broker.provider("open", realm, true, "\"client_id\": \"open\"");
        broker.provider("wrong", realm, true, SECRET.formatted("mintmark", "wrong"));
        broker.provider("stranger", realm, true, SECRET.formatted("stranger", "stranger"));
        broker.provider("abroad", other, true, SECRET.formatted("mintmark", "mintmark"));
        List.of("secret", "keyed", "open", "wrong", "stranger", "abroad")
                .forEach(provider -> broker.key(provider, provider, 300, TO_API));
        broker.key("brief", "secret", 200, TO_API);
        broker.key("unscoped", "secret", 300, "{\"audience\": \"api\"}");
        broker.key("nowhere", "secret", 300, "{\"audience\": \"nowhere\"}");
        broker.key("scopeless", "secret", 300, "{\"audience\": \"api\", \"scope\": \"none\"}");
        broker.key(
                "jwt",
                "secret",
                300,
                """
                {"audience": "api", "scope": "to-api",
                 "requested_token_type": "urn:ietf:params:oauth:token-type:jwt"}
                """);
        Eventually.holds(
                () -> broker.running().get("/health").at("/checks/broker_idp").equals("healthy"));
    }

    @ParameterizedTest
    @CsvSource({"secret, mintmark", "keyed, keyed"})
    void the_brokers_token_is_exchanged_for_one_to_the_api(String key, String client) {
        JWTClaimsSet claims = KeycloakRealm.claims(broker.minted(key));
        assertEquals(List.of("api"), claims.getAudience());
        assertEquals(client, claims.getClaim("azp"));
        assertEquals(realm.issuer(), claims.getIssuer());
    }

    @Test
    void an_assertion_of_the_brokers_works_for_every_mint() {
        broker.minted("keyed");
        broker.minted("keyed");
    }

    @Test
    void a_token_that_lives_longer_than_the_key_allows_is_withheld() {
        assertEquals("500 CREDENTIAL_MINT_FAILED provider_error", broker.mint("brief").verdict());
        String outcome = broker.outcome("brief");
        assertTrue(outcome.startsWith("withheld "), outcome);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    open      | provider_rejected        | access_denied: Client is not the holder of the token (HTTP 403)
                    stranger  | provider_rejected        | access_denied: Client is not within the token audience (HTTP 403)
                    wrong     | broker_identity_rejected | unauthorized_client: Invalid client or Invalid client credentials (HTTP 401)
                    abroad    | broker_identity_rejected | invalid_request: Invalid token (HTTP 400)
                    unscoped  | provider_misconfigured   | invalid_request: Requested audience not available: api (HTTP 400)
                    scopeless | provider_misconfigured   | invalid_scope: Invalid scopes: none (HTTP 400)
                    jwt       | provider_misconfigured   | invalid_request: requested_token_type unsupported (HTTP 400)
                    nowhere   | broker_identity_rejected | invalid_client: Audience not found (HTTP 400)
                    """)
    void what_the_realm_refuses_is_told(String key, String reason, String words) {
        assertEquals("500 CREDENTIAL_MINT_FAILED " + reason, broker.mint(key).verdict());
        assertEquals("failed %s %s".formatted(reason, words), broker.outcome(key));
    }
}
