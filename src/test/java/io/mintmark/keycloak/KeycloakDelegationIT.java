package io.mintmark.keycloak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.nimbusds.jwt.JWTClaimsSet;

import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.util.Map;

/**
 * A person's token that an agent exchanged at a realm, whose new token names the agent in {@code
 * act} by a mapper of the agent's client: Keycloak 26.7 has no delegation of its own that gives the
 * claim. And an agent that shows a token of its own beside the person's.
 */
class KeycloakDelegationIT {
    private static final String ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";

    private static KeycloakRealm realm;
    private static String grace;
    @AutoClose private static World world;

    @BeforeAll
    static void start() {
        realm = Keycloak.started().realm("delegation", "delegation.json");
        world = new World();
        grace = KeycloakRealm.subject(signedIn());
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('realm', 'acme', '%1$s', '{mintmark-people,mintmark-agents}', '{subject}'),
                       ('workers', 'acme', '%1$s', '{mintmark-workers}', '{actor}');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor)
                VALUES ('acme', 'realm', '%2$s', 'deploy', NULL, NULL),
                       ('acme', 'realm', '%2$s', 'api', 'realm', 'client:agent'),
                       ('acme', 'realm', '%2$s', 'spare', 'workers', '%3$s');
                """
                        .formatted(
                                realm.issuer(),
                                grace,
                                KeycloakRealm.subject(realm.serviceAccountToken("worker"))));
    }

    private static String signedIn() {
        return realm.login("portal", "grace").at("/access_token");
    }

    /** Grace's token as an agent exchanged it. */
    private static String exchanged(String agent) {
        Answer answer =
                realm.ask(
                        agent,
                        Map.of(
                                "grant_type",
                                "urn:ietf:params:oauth:grant-type:token-exchange",
                                "subject_token",
                                signedIn(),
                                "subject_token_type",
                                ACCESS_TOKEN));
        assertEquals(200, answer.status(), answer.toString());
        return answer.at("/access_token");
    }

    @Test
    void a_token_that_an_agent_exchanged_is_the_person_s_and_names_the_agent() throws Exception {
        JWTClaimsSet claims = KeycloakRealm.claims(exchanged("agent"));
        assertEquals(grace, claims.getSubject());
        assertEquals(Map.of("sub", "client:agent"), claims.getJSONObjectClaim("act"));
        assertNull(KeycloakRealm.claims(signedIn()).getClaim("act"));
    }

    @Test
    void it_mints_what_a_grant_gives_to_the_pair_and_the_log_has_both() throws Exception {
        String token = exchanged("agent");
        Answer answer = world.broker().mint(token, "api");
        assertEquals(200, answer.status(), answer.toString());
        JWTClaimsSet minted = KeycloakRealm.claims(answer.at("/credentials/api/ACCESS_TOKEN"));
        assertEquals(grace, minted.getSubject());
        assertEquals("client:agent", minted.getJSONObjectClaim("act").get("sub"));
        world.assertRows(
                "SELECT concat_ws(' ', kind, subject, actor_idp, actor) FROM audit.event WHERE token_id = '%s' AND step = 1"
                        .formatted(KeycloakRealm.claims(token).getJWTID()),
                "requested %s realm client:agent".formatted(grace));
    }

    @Test
    void it_does_not_pass_for_the_person_alone_nor_the_person_for_it() {
        assertEquals("403 FORBIDDEN ", world.broker().mint(exchanged("agent"), "deploy").verdict());
        assertEquals(200, world.broker().mint(signedIn(), "deploy").status());
        assertEquals("403 FORBIDDEN ", world.broker().mint(signedIn(), "api").verdict());
    }

    @Test
    void another_agent_gets_nothing_with_the_same_person() {
        assertEquals("403 FORBIDDEN ", world.broker().mint(exchanged("rogue"), "api").verdict());
    }

    @Test
    void an_agent_may_also_show_a_token_of_its_own() {
        assertEquals(200, withActor(realm.serviceAccountToken("worker")).status());
        assertEquals("403 FORBIDDEN ", world.broker().mint(signedIn(), "spare").verdict());
        assertEquals(
                "401 INVALID_TOKEN actor_not_accepted",
                withActor(realm.serviceAccountToken("agent")).verdict());
    }

    private static Answer withActor(String actor) {
        return world.broker()
                .post(
                        "{\"keys\":[\"spare\"]}",
                        "Authorization",
                        "Bearer " + signedIn(),
                        "Mintmark-Actor-Token",
                        actor);
    }
}
