package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

/** Grants for networks and blocks by claims, through the HTTP interface and in the log. */
class ConditionsTest {
    private static World world;

    @BeforeAll
    static void start() {
        world = new World();
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, networks)
                VALUES ('acme', 'ci', 'ci:here', 'api', '{127.0.0.0/8,::1/128}'),
                       ('acme', 'ci', 'ci:away', 'api', '{198.51.100.0/24}'),
                       ('acme', 'ci', 'ci:away', 'spare', NULL)
                """);
        Eventually.holds(() -> world.broker().keys(token("ci:away")).status() == 200);
    }

    @AfterAll
    static void stop() {
        world.close();
    }

    @AfterEach
    void lift() {
        world.admin("DELETE FROM broker.blocked_subject");
    }

    private static String token(String subject) {
        return world.issuer().sign(subject, World.AUDIENCE);
    }

    private static String token(String subject, String client) {
        return world.issuer().sign(Map.of("sub", subject, "aud", World.AUDIENCE, "azp", client));
    }

    @Test
    void a_grant_for_networks_is_for_clients_within_them() {
        assertEquals(200, world.broker().mint(token("ci:here"), "api").status());
        Answer refused = world.broker().mint(token("ci:away"), "api");
        assertEquals("403 FORBIDDEN address_not_allowed", refused.verdict());
        assertEquals("127.0.0.1", refused.at("/details/address"));
        assertEquals("api", refused.at("/details/elsewhereKeys/0"));
        assertTrue(
                refused.at("/message")
                        .contains(
                                "(a grant allows key 'api' from other networks, not from 127.0.0.1)"),
                refused::toString);
        assertEquals("spare", refused.at("/details/allowedKeys/0"));
        assertEquals(
                List.of("denied address_not_allowed 127.0.0.1"),
                world.database()
                        .column(
                                """
                                SELECT concat_ws(' ', kind, reason, host(client_address)) FROM audit.event
                                 WHERE subject = 'ci:away' AND key = 'api'
                                """));
    }

    @Test
    void a_list_has_no_key_that_the_client_may_not_have_from_where_it_is() {
        Answer list = world.broker().keys(token("ci:away"));
        assertEquals("spare", list.at("/keys/0/name"));
        assertEquals("", list.at("/keys/1/name"));
    }

    @Test
    void a_block_by_claims_stops_their_tokens_and_no_other() {
        world.admin(
                """
                INSERT INTO broker.blocked_subject (tenant, subject, match, claims, reason)
                VALUES ('acme', '**', 'glob', '{"azp": "stolen-client"}', 'INC-8')
                """);
        Eventually.holds(() ->
                world.broker().mint(token("ci:here", "stolen-client"), "api").status() == 403);
        assertEquals(200, world.broker().mint(token("ci:here", "web"), "api").status());
        assertEquals(200, world.broker().mint(token("ci:here"), "api").status());
        assertEquals(
                List.of("{\"azp\": \"stolen-client\"}", "{\"azp\": \"web\"}"),
                world.database()
                        .column(
                                """
                                SELECT DISTINCT claims::text FROM audit.event
                                 WHERE subject = 'ci:here' AND claims IS NOT NULL ORDER BY 1
                                """));
    }
}
