package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayInputStream;
import java.net.http.HttpRequest;
import java.util.Map;

class CorsTest {
    private static final String OURS = "https://app.example";

    @AutoClose private static final TestDatabase database = TestDatabase.migrated();
    private static final RunningBroker broker =
            database.closing(RunningBroker.on(database, Map.of("CORS_ALLOWED_ORIGINS", OURS)));

    private static Answer preflight(String path, String origin) {
        return broker.send(
                broker.request(path)
                        .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
                        .header("Origin", origin)
                        .header("Access-Control-Request-Method", "POST")
                        .header("Access-Control-Request-Headers", "authorization"));
    }

    @Test
    void a_preflight_of_a_configured_origin_is_answered_as_the_interface_says() {
        Answer answer = preflight("/credentials/mint", OURS);
        assertEquals(204, answer.status());
        assertEquals("", answer.response().body());
        assertEquals(OURS, answer.header("Access-Control-Allow-Origin"));
        assertEquals("GET, POST, OPTIONS", answer.header("Access-Control-Allow-Methods"));
        assertEquals(
                "authorization, content-type, x-request-id",
                answer.header("Access-Control-Allow-Headers"));
        assertEquals("86400", answer.header("Access-Control-Max-Age"));
        assertEquals("true", answer.header("Access-Control-Allow-Credentials"));
        assertEquals("Origin", answer.header("Vary"));
    }

    @Test
    void any_other_origin_gets_204_and_nothing_to_go_on() {
        for (String other :
                new String[] {
                    "https://app.example.evil", "http://app.example", "https://APP.example", "null"
                }) {
            Answer answer = preflight("/credentials/mint", other);
            assertEquals(204, answer.status());
            assertEquals("", answer.header("Access-Control-Allow-Origin"), other);
            assertEquals("", answer.header("Access-Control-Allow-Credentials"), other);
        }
    }

    @Test
    void answers_and_errors_can_be_read_by_the_application() {
        for (String path :
                new String[] {"/credentials/idp-providers", "/credentials/keys", "/nowhere"}) {
            Answer answer = broker.get(path, "Origin", OURS);
            assertEquals(OURS, answer.header("Access-Control-Allow-Origin"), path);
            assertEquals("true", answer.header("Access-Control-Allow-Credentials"), path);
            assertEquals("Origin", answer.header("Vary"), path);
            assertEquals(
                    "X-Request-ID, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining,"
                            + " X-RateLimit-Reset, X-RateLimit-Window",
                    answer.header("Access-Control-Expose-Headers"),
                    path);
        }
    }

    @Test
    void a_body_whose_length_is_not_said_is_refused_and_the_application_may_know() {
        Answer answer =
                broker.send(
                        broker.request("/credentials/mint")
                                .header("Origin", OURS)
                                .header("Content-Type", "application/json")
                                .POST(
                                        HttpRequest.BodyPublishers.ofInputStream(
                                                () -> new ByteArrayInputStream(new byte[70]))));
        assertEquals("411 INVALID_REQUEST ", answer.verdict());
        assertEquals(OURS, answer.header("Access-Control-Allow-Origin"));
    }

    @Test
    void a_body_that_says_it_is_too_long_is_refused_and_the_application_may_know() {
        Answer answer = broker.post("x".repeat(70_000), "Origin", OURS);
        assertEquals("413 INVALID_REQUEST ", answer.verdict());
        assertEquals(OURS, answer.header("Access-Control-Allow-Origin"));
        assertEquals("Origin", answer.header("Vary"));
    }
}
