package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * docs/clients/mcp-consent.py between a broker and a protected server of MCP's own SDK, both in the
 * version that {@code .ci/libraries} installs.
 */
class McpConsentIT {
    private static final Path INSTALLED = Path.of("target", "libraries").toAbsolutePath();
    private static final Path PROGRAM = Path.of("docs", "clients", "mcp-consent.py");

    private static final Pattern ID = Pattern.compile("approve ([0-9a-f-]{36})");

    @TempDir private Path directory;
    @AutoClose private final World world = new World();
    private final int port = RunningBroker.freePort();
    private Process server;

    @BeforeAll
    static void isInstalled() {
        Assumptions.assumeTrue(Files.isDirectory(INSTALLED.resolve("python")));
    }

    @BeforeEach
    void start() throws IOException {
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
                VALUES ('agents', 'acme', '%1$s', '{mintmark-agents}', '{actor}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access, consent)
                VALUES ('acme', 'spare', 'ci', 'ci:anna', 'exact', 7200, true)
                """
                        .formatted(world.issuer().url()));
        String broker = world.broker().url().toString();
        server =
                python(
                        "server.log",
                        Map.of(
                                "ISSUER", broker + "/tenants/acme",
                                "JWKS_URL", broker + "/tenants/acme/.well-known/jwks.json"),
                        INSTALLED.resolve("python/servers/orders.py").toString(),
                        Integer.toString(port));
        Eventually.holds(this::listens);
    }

    @AfterEach
    void stop() {
        server.destroy();
    }

    private boolean listens() {
        try (Socket _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private Process python(String log, Map<String, String> environment, String... arguments)
            throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(INSTALLED.resolve("venv/bin/python").toString(), "-I")
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve(log).toFile());
        builder.command().addAll(List.of(arguments));
        builder.environment().clear();
        builder.environment().put("PATH", Shell.SEARCH_PATH);
        builder.environment().putAll(environment);
        return builder.start();
    }

    private Process agentOf(String person) throws IOException {
        Path own = directory.resolve("person");
        Path agent = directory.resolve("agent");
        Files.writeString(own, world.issuer().sign(person, World.AUDIENCE));
        Files.writeString(agent, world.issuer().sign("agent:bot", "mintmark-agents"));
        return python(
                "log",
                Map.of(
                        "MINTMARK_URL", world.broker().url().toString(),
                        "MINTMARK_KEY", "spare",
                        "PERSON_TOKEN_FILE", own.toString(),
                        "AGENT_TOKEN_FILE", agent.toString()),
                PROGRAM.toString(),
                "http://127.0.0.1:%d/mcp".formatted(port),
                "orders",
                "{\"number\": 4711}");
    }

    private String said() {
        return Unchecked.call(() -> Files.readString(directory.resolve("log")));
    }

    /** Returns the number of the request that the agent told its person. */
    private String asked() {
        Eventually.holds(() -> ID.matcher(said()).find());
        Matcher id = ID.matcher(said());
        assertTrue(id.find());
        return id.group(1);
    }

    private void decides(String verdict, String id) {
        Ended ended =
                ClientProcess.under(Shell.installed().findFirst().orElseThrow())
                        .with("MINTMARK_URL", world.broker().url().toString())
                        .with("MINTMARK_TOKEN", world.issuer().sign("ci:anna", World.AUDIENCE))
                        .run(verdict, id, "--note", "for the order");
        assertEquals(0, ended.exit(), ended::messages);
    }

    @Test
    void the_person_is_asked_consents_and_the_call_goes_on() throws Exception {
        Process agent = agentOf("ci:anna");
        decides("approve", asked());
        assertEquals(0, agent.waitFor(), this::log);
        assertTrue(said().endsWith("order 4711 for ci:anna by agent:bot\n"), said());
        Process again = agentOf("ci:anna");
        assertEquals(0, again.waitFor(), this::log);
        assertEquals("order 4711 for ci:anna by agent:bot\n", said());
    }

    @Test
    void a_refusal_ends_the_call_with_its_status() throws Exception {
        Process agent = agentOf("ci:anna");
        decides("refuse", asked());
        assertNotEquals(0, agent.waitFor());
        assertTrue(said().contains("The request for spare is refused."), said());
    }

    @Test
    void who_may_not_even_ask_reads_why() throws Exception {
        Process agent = agentOf("ci:ben");
        assertNotEquals(0, agent.waitFor());
        assertTrue(
                said().contains(
                                "Subject 'ci:ben' with actor 'agent:bot' has no active grant for key 'spare'"),
                said());
        world.assertRows("SELECT count(*) FROM broker.access_request", "0");
    }

    private String log() {
        return said() + Unchecked.call(() -> Files.readString(directory.resolve("server.log")));
    }
}
