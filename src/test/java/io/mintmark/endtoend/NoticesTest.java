package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.base.outbound.LoopbackHttp;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Notices about requests for access reach their receiver, whatever happens meanwhile. */
class NoticesTest {
    private static final String SECRET = "a secret of the receiver";
    private static final Duration LONG = Duration.ofSeconds(40);
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir Path secrets;

    private World world;
    private HttpServer receiver;
    private HttpServer deaf;
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<Received> received = new CopyOnWriteArrayList<>();
    private volatile int status = 204;

    /** A request that the receiver got. */
    private record Received(String type, String signature, String body, int status) {
        JsonNode event() {
            try {
                return JSON.readTree(body);
            } catch (JsonProcessingException e) {
                throw new AssertionError(body, e);
            }
        }

        String kind() {
            return event().path("type").asText().replace("io.mintmark.access.", "");
        }
    }

    @BeforeEach
    void start() throws IOException {
        Files.createDirectories(secrets.resolve("acme"));
        Files.createDirectories(secrets.resolve("slow"));
        Files.writeString(secrets.resolve("acme").resolve("notices"), SECRET + "\n");
        Files.writeString(secrets.resolve("slow").resolve("notices"), SECRET);
        receiver = LoopbackHttp.serving(0, this::receive);
        deaf = LoopbackHttp.serving(0, this::keepWaiting);
        world =
                new World(
                        Map.of(
                                "SECRETS_DIR",
                                secrets.toString(),
                                "BROKER_CONSOLE_URL",
                                "https://console.example.com"));
        world.admin(
                """
                UPDATE broker.tenant SET notice_url = 'http://127.0.0.1:%2$d/hook', notice_secret = '{"file": "notices"}'
                 WHERE name = 'acme';
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('people', 'acme', '%1$s', '{mintmark-people}', '{approver}'),
                       ('agents', 'acme', '%1$s', '{mintmark-agents}', '{actor}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, break_glass)
                VALUES ('acme', 'spare', 'ci', 'ci:*', 'glob', 1, 7200, false),
                       ('acme', 'api', 'ci', 'glass:*', 'glob', 0, 7200, true);
                INSERT INTO broker.access_approver (rule, idp, subject)
                SELECT id, 'people', 'boss' FROM broker.access_rule
                """
                        .formatted(world.issuer().url(), receiver.getAddress().getPort()));
    }

    @AfterEach
    void stop() {
        end.countDown();
        world.close();
        receiver.stop(0);
        deaf.stop(0);
    }

    private void receive(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body =
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            int answered = status;
            received.add(
                    new Received(
                            exchange.getRequestHeaders().getFirst("Content-Type"),
                            exchange.getRequestHeaders().getFirst("Mintmark-Signature"),
                            body,
                            answered));
            exchange.sendResponseHeaders(answered, -1);
        }
    }

    /** Takes a request, and never answers. */
    private void keepWaiting(HttpExchange exchange) {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        exchange.close();
    }

    private String ask(RunningBroker broker, String audience, String subject, String key) {
        return asked(
                broker.send(
                        request(
                                broker,
                                "/access-requests",
                                world.issuer().sign(subject, audience),
                                wish(key))));
    }

    private String askThroughAgent(String subject, String key) {
        HttpRequest.Builder request =
                request(
                        world.broker(),
                        "/access-requests",
                        world.issuer().sign(subject, World.AUDIENCE),
                        wish(key));
        String agent = world.issuer().sign("agent:bot", "mintmark-agents");
        return asked(world.broker().send(request.header("Mintmark-Actor-Token", agent)));
    }

    private static String asked(Answer answer) {
        assertEquals(202, answer.status(), answer::toString);
        return answer.at("/requests/0/id");
    }

    private static String wish(String key) {
        return "{\"keys\":[\"%s\"],\"reason\":\"The export is stuck\",\"seconds\":3600}"
                .formatted(key);
    }

    private static Answer send(RunningBroker broker, String path, String token, String body) {
        return broker.send(request(broker, path, token, body));
    }

    private static HttpRequest.Builder request(
            RunningBroker broker, String path, String token, String body) {
        return broker.request(path)
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body));
    }

    private void decide(String id) {
        Answer answer =
                send(
                        world.broker(),
                        "/access-requests/" + id + "/decision",
                        world.issuer().sign("boss", "mintmark-people"),
                        "{\"verdict\":\"approve\",\"note\":\"go\"}");
        assertEquals(200, answer.status(), answer::toString);
    }

    private List<Received> about(String id) {
        return received.stream()
                .filter(one ->
                        one.status() < 300 && one.event().path("subject").asText().equals(id))
                .toList();
    }

    private Set<String> kinds(String id) {
        return about(id).stream().map(Received::kind).collect(Collectors.toSet());
    }

    private static String hmac(String text) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(SECRET.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void a_request_is_told_from_its_beginning_to_its_end_and_signed() throws Exception {
        String id = askThroughAgent("ci:a", "spare");
        Eventually.holds(() -> kinds(id).equals(Set.of("requested")));
        decide(id);
        Eventually.holds(() -> kinds(id).equals(Set.of("requested", "decided", "granted")));
        Answer ended =
                world.broker()
                        .send(
                                world.broker()
                                        .request("/access-requests/" + id)
                                        .header(
                                                "Authorization",
                                                "Bearer "
                                                        + world.issuer()
                                                                .sign("ci:a", World.AUDIENCE))
                                        .DELETE());
        assertEquals(200, ended.status(), ended::toString);
        Eventually.holds(
                () -> kinds(id).equals(Set.of("requested", "decided", "granted", "ended")));

        for (Received one : about(id)) {
            assertEquals("application/cloudevents+json", one.type().replaceAll(";.*", ""));
            JsonNode event = one.event();
            assertEquals("1.0", event.path("specversion").asText());
            assertEquals(world.broker().url() + "/tenants/acme", event.path("source").asText());
            Duration age =
                    Duration.between(Instant.parse(event.path("time").asText()), Instant.now());
            assertTrue(age.abs().compareTo(Duration.ofMinutes(10)) < 0, event::toString);
            assertEquals("spare", event.at("/data/key").asText());
            assertEquals("ci:a", event.at("/data/subject").asText());
            assertEquals("agents", event.at("/data/actorIdp").asText());
            assertEquals("agent:bot", event.at("/data/actor").asText());
            boolean ends = one.kind().equals("ended");
            assertEquals(ends, event.at("/data/gives/provider").asText().isEmpty());
            assertEquals(ends, event.at("/data/gives/settings").isEmpty());
            assertEquals(!ends, event.at("/data/revisions/rule").canConvertToLong());
            assertEquals(
                    "https://console.example.com/requests/" + id,
                    event.at("/data/consoleUrl").asText());
            String seconds = one.signature().replaceAll("t=(\\d+),v1=.*", "$1");
            assertEquals(
                    "t=%s,v1=%s".formatted(seconds, hmac(seconds + "." + one.body())),
                    one.signature());
        }
        assertTrue(about(id).getLast().event().at("/data/credentials").isArray());
        assertEquals(
                about(id).size(),
                about(id).stream().map(one -> one.event().path("id")).distinct().count());
    }

    @Test
    void break_glass_is_told_and_its_natural_end_too() {
        String id = ask(world.broker(), World.AUDIENCE, "glass:a", "api");
        Eventually.holds(() -> kinds(id).contains("break_glass"));
        world.database()
                .runAsSuperuser(
                        "UPDATE runtime.access_notice SET due = now(), wanted_at = now() WHERE access_lasts");
        Eventually.holds(() -> kinds(id).contains("ended"));
        JsonNode end = about(id).getLast().event();
        assertEquals("ended", end.at("/data/status").asText());
        assertEquals(
                Instant.parse(end.path("time").asText()),
                Instant.parse(end.at("/data/validUntil").asText()));
        about(id).forEach(one -> UUID.fromString(one.event().path("id").asText()));
    }

    @Test
    void a_notice_that_the_receiver_refuses_comes_again_with_the_same_id() {
        status = 503;
        String id = ask(world.broker(), World.AUDIENCE, "ci:b", "spare");
        Eventually.holds(() -> received.size() >= 2);
        status = 204;
        Eventually.holds(() -> about(id).size() == 1);
        assertEquals(1, received.stream().map(one -> one.event().path("id")).distinct().count());
        assertEquals(1, received.stream().map(Received::body).distinct().count());
        Eventually.holds(
                () -> world.value("SELECT count(*) FROM runtime.access_notice").equals("0"));
    }

    @Test
    void a_receiver_that_never_answers_delays_only_its_own_notices() {
        world.admin(
                """
                INSERT INTO broker.tenant (name, notice_url, notice_secret)
                VALUES ('slow', 'http://127.0.0.1:%2$d/hook', '{"file": "notices"}');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('slow-ci', 'slow', '%1$s', '{mintmark-slow}');
                INSERT INTO broker.access_provider (tenant, name, type) VALUES ('slow', 'own', 'jwt');
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('slow', 'spare', 'own', 600, '{"audience": "https://spare.example.com"}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access)
                VALUES ('slow', 'spare', 'slow-ci', 'ci:*', 'glob', 7200);
                INSERT INTO broker.access_approver (rule, idp, subject)
                SELECT id, 'slow-ci', 'ci:boss' FROM broker.access_rule WHERE tenant = 'slow'
                """
                        .formatted(world.issuer().url(), deaf.getAddress().getPort()));
        for (int i = 0; i < 20; i++) {
            ask(world.broker(), "mintmark-slow", "ci:slow-" + i, "spare");
        }
        // each attempt takes five seconds, so those of 1,000 notices would take minutes
        world.database()
                .runAsSuperuser(
                        """
                        INSERT INTO runtime.access_notice (tenant, type, request, data)
                        SELECT n.tenant, n.type, gen_random_uuid(), n.data
                          FROM runtime.access_notice AS n, generate_series(1, 49)
                         WHERE n.tenant = 'slow'
                        """);
        String id = ask(world.broker(), World.AUDIENCE, "ci:quick", "spare");
        Duration taken = Latency.until(() -> kinds(id).contains("requested"));
        assertTrue(taken.compareTo(LONG) < 0, taken::toString);
        assertEquals(
                "1000",
                world.value("SELECT count(*) FROM runtime.access_notice WHERE tenant = 'slow'"));
    }

    @Test
    void two_replicas_send_each_notice_once() {
        try (RunningBroker second =
                RunningBroker.on(world.database(), Map.of("SECRETS_DIR", secrets.toString()))) {
            for (int i = 0; i < 10; i++) {
                ask(i % 2 == 0 ? second : world.broker(), World.AUDIENCE, "ci:many-" + i, "spare");
            }
            Eventually.holds(() -> received.size() >= 10);
            Eventually.holds(
                    () -> world.value("SELECT count(*) FROM runtime.access_notice").equals("0"));
        }
        assertEquals(10, received.size());
    }

    @Test
    void without_its_secret_nothing_is_sent_and_the_row_says_why() throws IOException {
        Files.delete(secrets.resolve("acme").resolve("notices"));
        ask(world.broker(), World.AUDIENCE, "ci:c", "spare");
        Eventually.holds(() ->
                world.column("SELECT last_failure FROM runtime.access_notice")
                        .equals(
                                List.of(
                                        "notice_secret refers to SECRETS_DIR/acme/notices, which"
                                                + " doesn't exist: write the secret to that file")));
        assertEquals(List.of(), received);
    }
}
