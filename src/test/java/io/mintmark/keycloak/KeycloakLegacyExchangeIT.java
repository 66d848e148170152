package io.mintmark.keycloak;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
import java.util.stream.StreamSupport;

/**
 * Keycloak's legacy token exchange, of tokens from elsewhere: the realm has the broker's own issuer
 * as an identity provider, and exchanges its tokens.
 */
class KeycloakLegacyExchangeIT {
    private static final String SECRET =
            "\"client_id\": \"%s\", \"client_secret\": {\"file\": \"%s\"}";
    private static final String TO = "{\"audience\": \"%s\"}";

    @TempDir static Path secrets;

    private static KeycloakRealm realm;
    @AutoClose private static ExchangeBroker broker;

    @BeforeAll
    static void start() {
        Keycloak keycloak = Keycloak.started();
        broker = new ExchangeBroker(secrets, Map.of());
        Map<String, String> places =
                Map.of("issuer", broker.running().url().toString(), "jwks", broker.jwks());
        realm = keycloak.make(keycloak.realm("legacy"), "exchange.json", places);
        KeycloakRealm unaware = keycloak.make(keycloak.realm("unaware"), "exchange.json", places);
        unaware.ask("DELETE", "/identity-provider/instances/broker", "");
        List<String> permitted = List.of("mintmark", "keyed", "open");
        ExchangePermission permission = new ExchangePermission(realm);
        permission.forTokensOf("broker", permitted);
        permission.forTokensTo("api", permitted);
        broker.provider("secret", realm, false, SECRET.formatted("mintmark", "mintmark"));
        broker.provider(
                "keyed",
                realm,
                false,
                "\"client_id\": \"keyed\", \"client_auth\": \"private_key_jwt\"");
        broker.provider("open", realm, false, "\"client_id\": \"open\"");
        broker.provider("wrong", realm, false, SECRET.formatted("mintmark", "wrong"));
        broker.provider("stranger", realm, false, SECRET.formatted("stranger", "stranger"));
        broker.provider("unaware", unaware, false, SECRET.formatted("mintmark", "mintmark"));
        broker.provider(
                "keyless",
                realm,
                false,
                "\"client_id\": \"mintmark\", \"client_auth\": \"private_key_jwt\"");
        broker.provider(
                "careless",
                realm,
                false,
                SECRET.formatted("mintmark", "mintmark")
                        + ", \"subject_audience\": \"https://elsewhere.example\"");
        List.of("secret", "keyed", "open", "wrong", "stranger", "unaware", "keyless", "careless")
                .forEach(provider -> broker.key(provider, provider, 300, TO.formatted("api")));
        broker.key("closed", "secret", 300, TO.formatted("closed"));
        broker.key("nowhere", "secret", 300, TO.formatted("nowhere"));
        broker.key(
                "jwt",
                "secret",
                300,
                "{\"requested_token_type\": \"urn:ietf:params:oauth:token-type:jwt\"}");
    }

    @ParameterizedTest
    @CsvSource({"secret, mintmark", "keyed, keyed", "open, open"})
    void the_brokers_token_is_exchanged_for_one_to_the_api(String key, String client) {
        JWTClaimsSet claims = KeycloakRealm.claims(broker.minted(key));
        assertEquals(List.of("api"), claims.getAudience());
        assertEquals(client, claims.getClaim("azp"));
        assertEquals(user("tenant:acme:key:" + key), claims.getSubject());
    }

    /** The id of the only user of this name. */
    private static String user(String name) {
        return StreamSupport.stream(
                        realm.ask("GET", "/users?exact=true&username=" + name, "").spliterator(),
                        false)
                .map(user -> user.path("id").asText())
                .reduce((one, another) -> one + " and " + another)
                .orElse("nobody");
    }

    @Test
    void a_key_is_one_user_however_often_it_is_minted() {
        String first = KeycloakRealm.subject(broker.minted("secret"));
        assertEquals(first, KeycloakRealm.subject(broker.minted("secret")));
        assertEquals(first, user("tenant:acme:key:secret"));
    }

    /** So what guards the exchange is the client's proof, and an open client has none. */
    @Test
    void for_whom_the_brokers_token_is_does_not_count() {
        broker.minted("careless");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    stranger | provider_rejected        | access_denied: Client not allowed to exchange (HTTP 403)
                    closed   | provider_rejected        | access_denied: Client not allowed to exchange (HTTP 403)
                    wrong    | broker_identity_rejected | unauthorized_client: Invalid client or Invalid client credentials (HTTP 401)
                    keyless  | broker_identity_rejected | invalid_client: Invalid client or Invalid client credentials (HTTP 401)
                    unaware  | broker_identity_rejected | invalid_issuer: Invalid subject_issuer parameter (HTTP 400)
                    jwt      | provider_misconfigured   | invalid_request: requested_token_type unsupported (HTTP 400)
                    nowhere  | broker_identity_rejected | invalid_client: Audience not found (HTTP 400)
                    """)
    void what_the_realm_refuses_is_told(String key, String reason, String words) {
        assertEquals("500 CREDENTIAL_MINT_FAILED " + reason, broker.mint(key).verdict());
        assertEquals("failed %s %s".formatted(reason, words), broker.outcome(key));
    }
}
