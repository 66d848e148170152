package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Instant;
import java.util.List;
import java.util.Map;

class RateLimitTest {
    @AutoClose private static final TestDatabase database = TestDatabase.migrated();
    private static final RunningBroker broker =
            database.closing(
                    RunningBroker.on(
                            database,
                            Map.of(
                                    "RATE_LIMIT_ENABLED", "true",
                                    "RATE_LIMIT_REQUESTS", "3",
                                    "RATE_LIMIT_WINDOW", "PT1H",
                                    "TRUSTED_PROXIES", "127.0.0.1/32,::1/128",
                                    "CORS_ALLOWED_ORIGINS", "https://app.example")));

    private static Answer ask(String path, String client) {
        return broker.get(path, "X-Forwarded-For", client, "Origin", "https://app.example");
    }

    @Test
    void every_answer_tells_what_is_left_and_the_last_one_when_to_come_back() {
        for (int left = 2; left >= 0; left--) {
            Answer answer = ask("/credentials/idp-providers", "198.51.100.1");
            assertEquals(200, answer.status());
            assertEquals("3", answer.header("X-RateLimit-Limit"));
            assertEquals(Integer.toString(left), answer.header("X-RateLimit-Remaining"));
            assertEquals("3600", answer.header("X-RateLimit-Window"));
            assertTrue(
                    Long.parseLong(answer.header("X-RateLimit-Reset"))
                            > Instant.now().getEpochSecond());
        }
        Answer refused = ask("/credentials/idp-providers", "198.51.100.1");
        assertEquals("429 RATE_LIMIT_EXCEEDED ", refused.verdict());
        assertEquals("0", refused.header("X-RateLimit-Remaining"));
        assertEquals("3", refused.at("/details/limit"));
        assertEquals("3600", refused.at("/details/window"));
        Instant resetAt = Instant.parse(refused.at("/details/resetAt"));
        assertEquals(Long.toString(resetAt.getEpochSecond()), refused.header("X-RateLimit-Reset"));
        assertEquals(refused.at("/retryAfter"), refused.header("Retry-After"));
        assertTrue(refused.at("/message").contains(refused.at("/retryAfter")));
        assertEquals("https://app.example", refused.header("Access-Control-Allow-Origin"));
        assertEquals(refused.at("/requestId"), refused.header("X-Request-ID"));
    }

    @Test
    void errors_and_unknown_paths_count_too_and_carry_the_headers() {
        assertEquals("2", ask("/credentials/keys", "198.51.100.2").header("X-RateLimit-Remaining"));
        assertEquals("1", ask("/nowhere", "198.51.100.2").header("X-RateLimit-Remaining"));
        assertEquals("0", ask("/credentials/mint", "198.51.100.2").header("X-RateLimit-Remaining"));
        assertEquals(429, ask("/nowhere", "198.51.100.2").status());
    }

    @Test
    void health_and_keys_are_never_limited() {
        for (int i = 0; i < 6; i++) {
            for (String path :
                    new String[] {
                        "/health", "/.well-known/jwks.json", "/tenants/a/.well-known/jwks.json"
                    }) {
                Answer answer = ask(path, "198.51.100.3");
                assertEquals(200, answer.status());
                assertEquals("", answer.header("X-RateLimit-Limit"));
            }
        }
    }

    @Test
    void health_spelt_in_another_way_is_no_way_around() {
        for (String path : List.of("//health", "/health;x", "/%68ealth", "/a/../health")) {
            Answer answer =
                    broker.send(
                            HttpRequest.newBuilder(URI.create(broker.url() + path))
                                    .header("X-Forwarded-For", "198.51.100.4"));
            assertEquals("3", answer.header("X-RateLimit-Limit"), path);
        }
        assertEquals(429, ask("/health;x", "198.51.100.4").status());
    }

    @Test
    void ipv6_clients_share_what_their_network_has() {
        for (int i = 0; i < 3; i++) {
            assertEquals(404, ask("/nowhere", "2001:db8::" + i).status());
        }
        assertEquals(429, ask("/nowhere", "2001:db8::ffff:1").status());
        assertEquals(404, ask("/nowhere", "2001:db8:0:1::1").status());
    }
}
