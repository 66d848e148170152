package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.admin.cli.Commands;
import io.mintmark.audit.note.NoteSigner;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.auditor.witness.Witness;
import io.mintmark.auditor.witness.WitnessServer;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;

/** A broker with {@code AUDIT_WITNESS_POLICY}. */
class WitnessedBrokerTest {
    private static final String ISSUER = "https://mintmark.example.com";

    @TempDir private Path directory;
    @AutoClose private Witness witness;
    @AutoClose private WitnessServer server;
    private WitnessSettings operator;

    @BeforeEach
    void start() throws Exception {
        operator = new WitnessSettings(directory, "mintmark.example.com");
        NoteSigner log = operator.signer();
        witness =
                new Witness(
                        WitnessPolicy.of(
                                "log %s\nlog %s\nquorum none\n"
                                        .formatted(log.key(1).text(), log.key(2).text())),
                        directory.resolve("state"),
                        "w.example/1",
                        InstantSource.system());
        server =
                new WitnessServer(
                        witness, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    private String line() {
        return "witness one %s http://127.0.0.1:%d\n"
                .formatted(witness.key().text(), server.port());
    }

    private World world(String policy) {
        Map<String, String> settings = new HashMap<>(operator.settings(policy));
        settings.put("BROKER_ISSUER", ISSUER);
        return new World(settings);
    }

    private static int mint(World world) {
        return world.broker().mint(world.token(), "api").status();
    }

    private int run(World world, Map<String, String> further, String... command) {
        Map<String, String> environment =
                new HashMap<>(
                        RunningBroker.environment(world.database(), RunningBroker.freePort()));
        environment.putAll(further);
        return new Commands(environment, directory).execute(command);
    }

    /** The other witness accepts connections, and never answers. */
    @Test
    void a_witness_that_hangs_delays_neither_mints_nor_the_other_witness() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                World world =
                        world(
                                line()
                                        + WitnessSettings.line("two", silent.getLocalPort())
                                        + "group both any one two\nquorum both")) {
            Eventually.holds(() -> mint(world) == 200);
            Eventually.holds(() ->
                    world.column("SELECT tree || ' ' || witness FROM audit.cosignature")
                            .contains("1 w.example/1"));
            assertEquals(200, mint(world));
            URI metrics =
                    URI.create(
                            "http://localhost:%d/observe/metrics"
                                    .formatted(world.broker().adminPort()));
            String shown = world.broker().send(HttpRequest.newBuilder(metrics)).response().body();
            assertTrue(shown.contains("mintmark_audit_unwitnessed_seconds"), shown);
        }
    }

    @Test
    void the_check_names_the_witnesses_or_what_is_wrong_with_them() throws Exception {
        try (World world = new World()) {
            Map<String, String> settings = new HashMap<>(operator.settings(line() + "quorum one"));
            settings.put("BROKER_ISSUER", ISSUER);
            assertEquals(0, run(world, settings, "check"));
            settings.put("BROKER_ISSUER", "https://other.example.com");
            assertEquals(1, run(world, settings, "check"));
        }
    }

    @Test
    void a_longer_history_that_a_witness_knows_stops_the_broker_until_it_is_acknowledged()
            throws Exception {
        String longer = operator.signer().sign(1, 1_000_000, new byte[32]);
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI address = URI.create("http://127.0.0.1:%d/add-checkpoint".formatted(server.port()));
            HttpRequest request =
                    HttpRequest.newBuilder(address)
                            .POST(BodyPublishers.ofString("old 0\n\n" + longer))
                            .build();
            assertEquals(200, client.send(request, BodyHandlers.ofString()).statusCode());
        }
        try (World world = world(line() + "quorum one")) {
            Eventually.holds(() -> mint(world) == 503);
            world.assertRows(
                    "SELECT kind || ' ' || chain || ' ' || place FROM runtime.lost_row",
                    "tree mintmark.example.com/audit/1 1000000");

            int status =
                    run(
                            world,
                            Map.of(),
                            "audit",
                            "acknowledge-loss",
                            "--reason",
                            "a drill of the witness");
            assertEquals(0, status);

            Eventually.holds(() -> mint(world) == 200);
        }
    }
}
