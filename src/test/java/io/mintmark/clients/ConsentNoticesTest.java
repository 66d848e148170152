package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.clients.StandIn.Asked;
import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** From the broker by the relay of docs/tenants/notices.md to the person who consents. */
class ConsentNoticesTest {
    private static final Path RELAY = Path.of("docs", "tenants", "notice-relay.py");
    private static final String AGENT = "Mintmark-Actor-Token";

    @TempDir Path directory;
    @AutoClose private final StandIn chat = new StandIn();
    private World world;
    private Process relay;

    @BeforeEach
    void start() throws IOException {
        int port = RunningBroker.freePort();
        Files.createDirectory(directory.resolve("acme"));
        Path secret = Files.writeString(directory.resolve("acme/notices"), "a secret\n");
        world = new World(Map.of("SECRETS_DIR", directory.toString()));
        world.admin(
                """
                UPDATE broker.tenant SET notice_url = 'http://127.0.0.1:%2$d/', notice_secret = '{"file": "notices"}' WHERE name = 'acme';
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('agents', 'acme', '%1$s', '{mintmark-agents}', '{actor}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access, consent)
                VALUES ('acme', 'spare', 'ci', 'ci:*', 'glob', 7200, true);
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access)
                VALUES ('acme', 'deploy', 'ci', 'ci:*', 'glob', 7200);
                INSERT INTO broker.access_approver (rule, idp, subject)
                SELECT id, 'ci', 'boss' FROM broker.access_rule WHERE NOT consent
                """
                        .formatted(world.issuer().url(), port));
        chat.says("/team", 200, "ok");
        chat.says("/anna", 200, "ok");
        ProcessBuilder builder =
                new ProcessBuilder("python3", "-I", RELAY.toString(), Integer.toString(port))
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("log").toFile());
        builder.environment().clear();
        builder.environment()
                .putAll(
                        Map.of(
                                "PATH",
                                Shell.SEARCH_PATH,
                                "NOTICE_SECRET_FILE",
                                secret.toString(),
                                "RELAY_TO_FILE",
                                file("target", "%s/team"),
                                "RELAY_PEOPLE_FILE",
                                file("people", "{\"ci\": {\"ci:anna\": \"%s/anna\"}}")));
        relay = builder.start();
    }

    private String file(String name, String content) throws IOException {
        return Files.writeString(directory.resolve(name), content.formatted(chat.url())).toString();
    }

    @AfterEach
    void stop() throws InterruptedException {
        relay.destroy();
        relay.waitFor();
        world.close();
    }

    private Answer post(String path, String person, String body, String... headers) {
        HttpRequest.Builder request =
                world.broker()
                        .request(path)
                        .header(
                                "Authorization",
                                "Bearer " + world.issuer().sign(person, World.AUDIENCE))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body));
        return world.broker().send(headers.length == 0 ? request : request.headers(headers));
    }

    private String asked(String person, String key, String... headers) {
        Answer answer =
                post(
                        "/access-requests",
                        person,
                        "{\"keys\":[\"%s\"],\"reason\":\"Mail of the customer\",\"seconds\":1200}"
                                .formatted(key),
                        headers);
        assertEquals(202, answer.status(), answer::toString);
        return answer.at("/requests/0/id");
    }

    private List<String> texts(String target) {
        return chat.asked().stream()
                .filter(asked -> asked.target().equals(target))
                .map(Asked::body)
                .toList();
    }

    @Test
    void the_person_gets_every_notice_of_the_agents_request_and_nobody_else_does() {
        String agent = world.issuer().sign("agent:bot", "mintmark-agents");
        String id = asked("ci:anna", "spare", AGENT, agent);
        Eventually.holds(() -> texts("/anna").size() == 1);
        String first = texts("/anna").getFirst();
        assertTrue(
                first.contains("requested: `ci:anna`, through `agent:bot` (`agents`), key `spare`")
                        && first.contains("; only the subject decides (mintmark-client approve "),
                first);

        Answer decided =
                post(
                        "/access-requests/%s/decision".formatted(id),
                        "ci:anna",
                        "{\"verdict\":\"approve\"}");
        assertEquals("granted", decided.at("/status"), decided::toString);
        Eventually.holds(() -> texts("/anna").size() == 3);
        assertTrue(
                texts("/anna").getLast().contains("granted: `ci:anna`"), texts("/anna")::toString);

        asked("ci:anna", "deploy");
        asked("ci:ben", "spare", AGENT, agent);
        Eventually.holds(() -> texts("/team").size() == 2);
        assertEquals(3, texts("/anna").size());
    }
}
