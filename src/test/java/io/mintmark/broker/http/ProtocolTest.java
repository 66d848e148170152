package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;

/** However the paths of other protocols are spelt, they stay what they are. */
class ProtocolTest {
    private static final String ORIGIN = "https://console.example.com";

    private static final String EXCHANGE =
            "grant_type=urn:ietf:params:oauth:grant-type:token-exchange"
                    + "&subject_token_type=urn:ietf:params:oauth:token-type:jwt"
                    + "&audience=api&subject_token=";

    @AutoClose
    private static final World world =
            new World(Map.of("CORS_ALLOWED_ORIGINS", ORIGIN, "SERVER_BODY_TIMEOUT", "PT1S"));

    private static RawAnswer send(String head, String body) {
        try (RawClient client = new RawClient(world.broker().url().getPort())) {
            client.trySending(head + "\r\nHost: localhost\r\nOrigin: " + ORIGIN + "\r\n" + body);
            return client.answer();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void browsers_are_let_in_by_no_spelling() {
        for (String path :
                List.of(
                        "//sdk/aws/deploy",
                        "/./sdk/aws/deploy",
                        "/x/../sdk/aws/deploy",
                        "/%73dk/aws/deploy",
                        "/sdk/aws/deploy;x=1",
                        "/sdk;x/aws/deploy",
                        "/sdk/aws/%64eploy")) {
            RawAnswer answer = send("GET " + path + " HTTP/1.1", "\r\n");
            assertFalse(answer.headers().containsKey("access-control-allow-origin"), path);
            assertEquals(403, answer.status(), path);
            assertTrue(answer.body().contains("\"code\":\"FORBIDDEN\""), path + answer.body());
        }
        for (String path : List.of("/sdk/aws/deploy", "/sdk/aws/deploy?x")) {
            RawAnswer answer = send("GET " + path + " HTTP/1.1", "\r\n");
            assertFalse(answer.headers().containsKey("access-control-allow-origin"), path);
            assertEquals(401, answer.status(), path);
            assertTrue(answer.body().contains("\"code\":\"UNAUTHORIZED\""), path + answer.body());
        }
        Map.of("/oauth2/token", 415, "//oauth2/token", 404, "/oauth2/%74oken", 404)
                .forEach(ProtocolTest::assertClosedToBrowsers);
    }

    private static void assertClosedToBrowsers(String path, int status) {
        RawAnswer answer = send("POST " + path + " HTTP/1.1", "Content-Length: 0\r\n\r\n");
        assertFalse(answer.headers().containsKey("access-control-allow-origin"), path);
        assertEquals(status, answer.status(), path);
        assertTrue(answer.body().startsWith("{\"error\":\"invalid_request\""), answer.body());
    }

    @Test
    void what_the_server_itself_refuses_is_told_in_the_protocols_words() {
        for (String framing :
                List.of(
                        "Content-Length: 70000\r\n\r\n",
                        "Transfer-Encoding: chunked\r\n\r\n",
                        "Content-Length: x\r\n\r\n")) {
            RawAnswer token = send("POST /oauth2/token HTTP/1.1", framing);
            assertTrue(token.body().startsWith("{\"error\":\"invalid_request\""), token.body());
            assertFalse(token.headers().containsKey("access-control-allow-origin"));
            RawAnswer sdk = send("GET /sdk/aws/deploy HTTP/1.1", framing);
            assertTrue(sdk.body().contains("\"code\":\"INVALID_REQUEST\""), sdk.body());
            assertFalse(sdk.headers().containsKey("access-control-allow-origin"));
        }
    }

    @Test
    void what_the_broker_lacks_for_now_is_worth_another_try_in_every_protocol() throws IOException {
        try (World without = new World()) {
            String token = without.token();
            without.issuer().goDown();
            RealAnswers answers = new RealAnswers(new InterfaceDocument());
            RawAnswer sdk =
                    answers.ask(without, "GET /sdk/aws/deploy", "", "Authorization: " + token)
                            .answer();
            assertEquals(503, sdk.status());
            assertTrue(sdk.body().contains("\"code\":\"SERVICE_UNAVAILABLE\""), sdk.body());
            RawAnswer exchanged =
                    answers.ask(
                                    without,
                                    "POST /oauth2/token",
                                    EXCHANGE + token,
                                    "Content-Type: application/x-www-form-urlencoded")
                            .answer();
            assertEquals(503, exchanged.status());
            assertTrue(
                    exchanged.body().startsWith("{\"error\":\"temporarily_unavailable\""),
                    exchanged.body());
            for (RawAnswer answer : List.of(sdk, exchanged)) {
                assertTrue(Integer.parseInt(answer.header("retry-after")) > 0);
            }
        }
    }

    @Test
    void a_form_that_stops_half_way_exchanges_nothing() throws IOException {
        String form = EXCHANGE + world.token();
        try (RawClient client = new RawClient(world.broker().url().getPort())) {
            client.trySending(
                    "POST /oauth2/token HTTP/1.1\r\nHost: localhost\r\nX-Request-ID: half\r\n"
                            + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: "
                            + (form.length() + 1)
                            + "\r\n\r\n"
                            + form);
            client.finish().untilClosed();
        }
        assertEquals(List.of(), world.audited("request_id = 'half'"));
    }
}
