package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.net.http.HttpRequest;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Genuine tokens that were made for something else, wherever tokens are shown. */
class TokenPurposeTest {
    @AutoClose private static World world;

    @BeforeAll
    static void start() {
        world = new World(Map.of());
    }

    private static String logoutToken() {
        return world.issuer()
                .sign(
                        Map.of(
                                "sub", World.SUBJECT,
                                "aud", World.AUDIENCE,
                                "events",
                                        Map.of(
                                                "http://schemas.openid.net/event/backchannel-logout",
                                                Map.of())));
    }

    private static String typed(String type) {
        long now = Instant.now().getEpochSecond();
        return world.issuer()
                .key()
                .sign(
                        "{\"alg\":\"ES256\",\"kid\":\"%s\",\"typ\":\"%s\"}"
                                .formatted(world.issuer().key().id(), type),
                        "{\"iss\":\"%s\",\"aud\":\"%s\",\"sub\":\"%s\",\"iat\":%d,\"exp\":%d}"
                                .formatted(
                                        world.issuer().url(),
                                        World.AUDIENCE,
                                        World.SUBJECT,
                                        now,
                                        now + 60));
    }

    @Test
    void no_request_accepts_one() {
        for (HttpRequest.Builder request : AllDoors.requests(world.broker().url(), logoutToken())) {
            Answer answer = world.broker().send(request);
            assertTrue(answer.toString().contains("was not made to identify"), answer::toString);
        }
        Eventually.holds(() ->
                !world.audited("kind = 'rejected' AND reason = 'wrong_token_type'").isEmpty());
        assertEquals(List.of(), world.audited("kind <> 'rejected'"));
    }

    @Test
    void a_platform_admin_can_accept_a_type() {
        String type = "application/vnd.example.identity+jwt";
        Answer refused = world.broker().mint(typed(type), "deploy");
        assertEquals(401, refused.status(), refused.toString());
        assertEquals("INVALID_TOKEN", refused.at("/error"));
        assertEquals("wrong_token_type", refused.at("/details/reason"));
        world.admin(
                "UPDATE broker.identity_provider SET token_types = '{vnd.example.identity+jwt}'"
                        + " WHERE name = 'ci'");
        Eventually.holds(() -> world.broker().keys(typed(type)).status() == 200);
        assertEquals(401, world.broker().mint(typed("logout+jwt"), "deploy").status());
    }
}
