package io.mintmark.keycloak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.util.List;

/**
 * Keycloak as the issuer of the tokens that clients show. The tenant {@code acme} trusts a realm
 * three times: for tokens to {@code mintmark-acme}, with the keys found by discovery; for identity
 * tokens of the program {@code desk}, with the keys where {@code jwks_uri} says; and for tokens to
 * {@code mintmark-strict}, which must be of the client {@code once} and work once.
 */
class KeycloakClientsIT {
    @AutoClose private static World world;
    private static KeycloakRealm realm;

    @BeforeAll
    static void start() {
        Keycloak keycloak = Keycloak.started();
        realm = keycloak.realm("clients", "clients.json");
        world = new World();
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri)
                VALUES ('realm', 'acme', '%1$s', '{mintmark-acme}', NULL),
                       ('people', 'acme', '%1$s', '{desk}', '%2$s');
                INSERT INTO broker.identity_provider
                       (name, tenant, issuer, audiences, required_claims, max_token_age,
                        one_time_tokens)
                VALUES ('strict', 'acme', '%1$s', '{mintmark-strict}', '{"azp": "once"}',
                        60, true);
                """
                        .formatted(realm.issuer(), realm.jwksUri()));
        grant("realm", realm.serviceAccountToken("pipeline"), "api", "{\"azp\": \"pipeline\"}");
    }

    private static void grant(String idp, String token, String key, String claims) {
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims)
                VALUES ('acme', '%s', '%s', '%s', '%s')
                """
                        .formatted(idp, KeycloakRealm.subject(token), key, claims));
    }

    @Test
    void a_service_account_mints_and_the_realms_keys_are_found_by_discovery() {
        assertEquals(
                404,
                realm.keycloak().get(realm.path() + "/.well-known/jwks.json").status(),
                "else this tests nothing");
        String token = realm.serviceAccountToken("pipeline");
        Answer answer = world.broker().mint(token, "api");
        assertEquals(200, answer.status(), answer.toString());
        assertEquals(KeycloakRealm.subject(token), answer.at("/subject"));
        String credential = answer.at("/credentials/api/ACCESS_TOKEN");
        assertEquals(
                List.of("https://api.example.com"), KeycloakRealm.claims(credential).getAudience());
        world.assertRows(
                "SELECT idp || ' ' || (claims ->> 'azp') FROM audit.event WHERE kind = 'requested' AND token_id = '%s'"
                        .formatted(KeycloakRealm.claims(token).getJWTID()),
                "realm pipeline");
    }

    @Test
    void a_person_mints_with_an_identity_token_and_the_keys_are_where_jwks_uri_says() {
        String token = realm.login("desk", "alice").at("/id_token");
        grant("people", token, "api", "{\"email_verified\": true}");
        Answer answer = world.broker().mint(token, "api");
        assertEquals(200, answer.status(), answer.toString());
        assertEquals("people", world.broker().keys(token).at("/idp"));
    }

    @Test
    void a_role_of_the_realm_can_be_a_condition() {
        String condition = "{\"/realm_access/roles\": \"deployer\"}";
        String pipeline = realm.serviceAccountToken("pipeline");
        String nightly = realm.serviceAccountToken("nightly");
        grant("realm", pipeline, "deploy", condition);
        grant("realm", nightly, "deploy", condition);
        Eventually.holds(() -> world.broker().mint(pipeline, "deploy").status() == 200);
        assertEquals("403 FORBIDDEN ", world.broker().mint(nightly, "deploy").verdict());
    }

    @Test
    void a_token_without_the_audience_mapper_is_for_the_account_console() {
        String token = realm.serviceAccountToken("unmapped");
        Answer answer = world.broker().mint(token, "api");
        assertEquals("401 UNAUTHORIZED invalid_audience", answer.verdict());
        assertEquals(List.of("account"), answer.texts("/details/tokenAudience"));
        assertTrue(answer.texts("/details/expectedAudience").contains("mintmark-acme"));
    }

    @Test
    void without_any_role_it_is_for_nobody() {
        String token = realm.serviceAccountToken("roleless");
        Answer answer = world.broker().mint(token, "api");
        assertEquals("401 INVALID_TOKEN missing_claim", answer.verdict());
        assertEquals("aud", answer.at("/details/claim"));
    }

    @Test
    void required_claims_keep_the_realms_other_clients_out() {
        Answer answer = world.broker().mint(realm.serviceAccountToken("other"), "api");
        assertEquals("401 INVALID_TOKEN claims_not_accepted", answer.verdict());
    }

    @Test
    void a_token_works_once_where_the_provider_says_so() {
        String token = realm.serviceAccountToken("once");
        grant("strict", token, "api", "{}");
        assertEquals(200, world.broker().mint(token, "api").status());
        Answer again = world.broker().mint(token, "api");
        assertEquals("401 INVALID_TOKEN token_replayed", again.verdict());
    }

    @Test
    void another_realm_of_the_same_server_is_another_issuer() {
        Answer answer = world.broker().mint(realm.keycloak().adminToken(), "api");
        assertEquals("401 UNAUTHORIZED unknown_issuer", answer.verdict());
        assertEquals(realm.keycloak().master().issuer(), answer.at("/details/issuer"));
    }

    @Test
    void a_refresh_token_is_no_identity_token() {
        String token = realm.login("desk", "alice").at("/refresh_token");
        Answer answer = world.broker().mint(token, "api");
        assertEquals("401 INVALID_TOKEN unsupported_algorithm", answer.verdict());
    }
}
