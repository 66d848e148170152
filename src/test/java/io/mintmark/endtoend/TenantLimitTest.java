package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.time.Instant;

/** {@code broker.tenant.max_requests}. */
class TenantLimitTest {
    private static final int MANY = 1_000;

    @AutoClose private static final World world = new World();

    @AfterEach
    void lift() {
        world.admin("UPDATE broker.tenant SET max_requests = NULL WHERE name = 'acme'");
        Eventually.holds(() -> list().status() == 200);
    }

    private static Answer list() {
        return world.broker().keys(world.token());
    }

    /** Asks until the limit is reached, and returns the answer that says so. */
    private static Answer limited(int most) {
        world.admin(
                "UPDATE broker.tenant SET max_requests = %d WHERE name = 'acme'".formatted(most));
        for (int i = 0; i < MANY; i++) {
            Answer answer = list();
            if (answer.status() == 429) {
                return answer;
            }
            assertEquals(200, answer.status());
        }
        throw new AssertionError("no limit");
    }

    @Test
    void a_tenant_over_its_limit_gets_429_at_every_door() {
        Answer answer = limited(3);

        assertEquals("RATE_LIMIT_EXCEEDED", answer.at("/error"));
        assertEquals("3", answer.at("/details/limit"));
        assertEquals("60", answer.at("/details/window"));
        assertEquals("3", answer.header("X-RateLimit-Limit"));
        assertEquals("0", answer.header("X-RateLimit-Remaining"));
        assertEquals("60", answer.header("X-RateLimit-Window"));
        assertEquals(
                Instant.parse(answer.at("/details/resetAt")),
                Instant.ofEpochSecond(Long.parseLong(answer.header("X-RateLimit-Reset"))));
        assertTrue(
                answer.at("/message").startsWith("Tenant 'acme' has reached its limit"),
                answer::toString);
        assertTrue(Integer.parseInt(answer.header("Retry-After")) <= 60, answer::toString);
        assertEquals(429, world.broker().mint(world.token(), "api").status());
        assertEquals(
                429,
                world.broker()
                        .get("/sdk/aws/deploy", "Authorization", "Bearer " + world.token())
                        .status());
    }

    @Test
    void tokens_that_are_not_accepted_use_nothing_up() {
        world.admin("UPDATE broker.tenant SET max_requests = 20 WHERE name = 'acme'");
        String token = world.token();
        String forged = token.substring(0, token.lastIndexOf('.') + 1) + "AAAA";
        for (int i = 0; i < 50; i++) {
            assertEquals(401, world.broker().keys(forged).status());
        }

        assertEquals(200, list().status());
    }
}
