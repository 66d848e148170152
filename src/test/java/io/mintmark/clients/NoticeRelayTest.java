package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The relay of docs/tenants/notices.md, between the broker's notices and a chat. */
class NoticeRelayTest {
    private static final Path RELAY = Path.of("docs", "tenants", "notice-relay.py");
    private static final String EVENT =
            """
            {"specversion": "1.0", "id": "42", "type": "io.mintmark.access.requested", "subject": "7c9e",
             "data": {"subject": "alice", "key": "prod", "reason": "stuck <https://evil.example.com|here> @channel\\u202e"}}
            """;

    @TempDir Path directory;
    @AutoClose private final StandIn chat = new StandIn();
    @AutoClose private final HttpClient client = HttpClient.newHttpClient();
    private Process relay;
    private URI url;

    @BeforeEach
    void start() throws IOException {
        int port = RunningBroker.freePort();
        url = URI.create("http://127.0.0.1:" + port + "/");
        Path secret = Files.writeString(directory.resolve("secret"), "a secret\n");
        Path target = Files.writeString(directory.resolve("target"), chat.url() + "/hook\n");
        Path people =
                Files.writeString(
                        directory.resolve("people"),
                        "{\"sso\": {\"alice\": \"%s/alice\"}}".formatted(chat.url()));
        ProcessBuilder builder =
                new ProcessBuilder("python3", "-I", RELAY.toString(), Integer.toString(port))
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("log").toFile());
        builder.environment().clear();
        builder.environment()
                .putAll(
                        Map.of(
                                "PATH", Shell.SEARCH_PATH,
                                "NOTICE_SECRET_FILE", secret.toString(),
                                "RELAY_TO_FILE", target.toString(),
                                "RELAY_PEOPLE_FILE", people.toString()));
        relay = builder.start();
        Eventually.holds(this::answers);
    }

    @AfterEach
    void stop() throws InterruptedException {
        relay.destroy();
        relay.waitFor();
    }

    private boolean answers() {
        try {
            return send("", "{}") == 401;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private int send(String signature, String body) throws IOException, InterruptedException {
        return client.send(
                        HttpRequest.newBuilder(url)
                                .header("Content-Type", "application/cloudevents+json")
                                .header("Mintmark-Signature", signature)
                                .POST(HttpRequest.BodyPublishers.ofString(body))
                                .build(),
                        HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    private static String signature(Instant at, String body) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec("a secret".getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        byte[] signed =
                mac.doFinal((at.getEpochSecond() + "." + body).getBytes(StandardCharsets.UTF_8));
        return "t=%d,v1=%s".formatted(at.getEpochSecond(), HexFormat.of().formatHex(signed));
    }

    private String relayed(String event) throws Exception {
        chat.says("/hook", 200, "ok");
        assertEquals(204, send(signature(Instant.now(), event), event));
        return new ObjectMapper().readTree(chat.asked().getLast().body()).path("text").asText();
    }

    @Test
    void what_others_wrote_is_code_without_markup_links_and_mentions() throws Exception {
        assertEquals(
                "requested: `alice`, key `prod`: `stuck \\u{3c}https://evil.example.com|here\\u{3e}"
                        + " @channel\\u{202e}` (mintmark-client approve 7c9e)",
                relayed(EVENT));
    }

    /** Two keys whose names differ in a character never read alike, nor does a name hide one. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    prod_db      | `prod_db`
                    proddb       | `proddb`
                    prod\u200bdb | `prod\\u{200b}db`
                    prod\u3164db | `prod\\u{3164}db`
                    prod\u00addb | `prod\\u{ad}db`
                    *prod*       | `*prod*`
                    pr`od        | `pr\\u{60}od`
                    pr\\\\u{60}  | `pr\\\\u{60}`
                    """)
    void a_name_is_shown_with_what_cannot_be_seen(String key, String shown) throws Exception {
        String event = EVENT.replace("\"prod\"", "\"" + key + "\"");
        assertTrue(relayed(event).contains("key " + shown + ": "), () -> shown);
    }

    @Test
    void the_link_of_the_broker_is_a_link_and_that_of_a_reason_is_not() throws Exception {
        String event =
                EVENT.replace(
                        "\"key\"",
                        "\"consoleUrl\": \"https://console.example.com/requests/7c9e\", \"key\"");
        assertTrue(relayed(event).endsWith("`; decide: https://console.example.com/requests/7c9e"));
    }

    /** The approver consents to both. */
    @Test
    void an_actor_is_shown_and_who_alone_decides() throws Exception {
        String event =
                EVENT.replace(
                        "\"key\"",
                        "\"consent\": true, \"actorIdp\": \"agents\", \"actor\": \"agent:<bot>\", \"key\"");
        String sent = relayed(event);
        assertTrue(
                sent.startsWith(
                        "requested: `alice`, through `agent:\\u{3c}bot\\u{3e}` (`agents`), key "),
                sent);
        assertTrue(sent.contains("; only the subject decides"), sent);
    }

    @ParameterizedTest
    @CsvSource({"true, sso, /alice", "false, sso, /hook", "true, other, /hook"})
    void what_a_person_alone_decides_goes_to_the_persons_own_chat(
            boolean consent, String idp, String path) throws Exception {
        chat.says("/alice", 200, "ok");
        relayed(
                EVENT.replace(
                        "\"key\"",
                        "\"consent\": %s, \"idp\": \"%s\", \"key\"".formatted(consent, idp)));
        assertEquals(path, chat.asked().getLast().target());
    }

    @Test
    void what_is_requested_and_for_how_long_is_shown() throws Exception {
        String event =
                EVENT.replace(
                        "\"key\"",
                        "\"seconds\": 600, \"gives\": {\"target\": \"arn\", \"provider\": \"aws\", \"settings\": %s}, \"key\"");
        assertTrue(
                relayed(event.formatted("{\"claims\": {\"scope\": \"admin`\"}}"))
                        .contains(
                                "; gives `arn` at `aws` for `600` s; settings `{\"claims\": {\"scope\": \"admin\\u{60}\"}}`"));
        assertTrue(
                relayed(event.formatted("{\"a\": \"" + "x".repeat(3000) + "\"}"))
                        .contains("x` (cut)"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    ended      | has ended
                    ending     | is being ended, and works until `2026-01-01T00:10:00Z` at most
                    revoked    | is on the revocation list
                    lasts      | works until `2026-01-01T00:10:00Z`
                    cannot_end | can't be ended, and works until `2026-01-01T00:10:00Z`
                    """)
    void a_withdrawal_and_its_credentials_are_shown(String state, String words) throws Exception {
        String event =
                EVENT.replace("access.requested", "access.ended")
                        .replace(
                                "\"key\"",
                                """
                                "approvals": [{"verdict": "withdraw", "decidedBy": "bea", "note": "INC-7 is over"}],
                                "credentials": [{"mintId": "0199", "state": "%s", "expiresAt": "2026-01-01T00:10:00Z"}], "key"\
                                """
                                        .formatted(state));
        String sent = relayed(event);
        assertTrue(
                sent.endsWith("; withdraw by `bea`: `INC-7 is over`; credential `0199` " + words),
                sent);
    }

    @Test
    void a_vote_of_a_program_is_named_as_one() throws Exception {
        String event =
                EVENT.replace("access.requested", "access.decided")
                        .replace(
                                "\"key\"",
                                "\"approvals\": [{\"verdict\": \"approve\", \"program\": true, \"decidedBy\": \"bot\", \"note\": \"INC-7\"}], \"key\"");
        assertTrue(relayed(event).endsWith("; approve by program `bot`: `INC-7`"));
    }

    @Test
    void other_signatures_and_old_ones_are_rejected() throws Exception {
        String good = signature(Instant.now(), EVENT);
        assertEquals(401, send(good, EVENT + " "));
        assertEquals(401, send(signature(Instant.now().minusSeconds(400), EVENT), EVENT));
        assertEquals(401, send("t=,v1=", EVENT));
        assertTrue(chat.asked().isEmpty());
    }

    @Test
    void a_chat_that_fails_is_reported_so_that_the_broker_tries_again() throws Exception {
        chat.says("/hook", 500, "");
        assertEquals(502, send(signature(Instant.now(), EVENT), EVENT));
    }
}
