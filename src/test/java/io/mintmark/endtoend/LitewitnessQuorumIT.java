package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.admin.cli.Commands;
import io.mintmark.audit.note.NoteKey;
import io.mintmark.audit.note.WitnessPolicy;
import io.mintmark.auditor.witness.KillableWitness;
import io.mintmark.auditor.witness.Litewitness;
import io.mintmark.auditor.witness.Witness;
import io.mintmark.auditor.witness.WitnessServer;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;

/** A broker that asks the program's witness and the reference witness. */
class LitewitnessQuorumIT {
    private static final String BOTH = "group both all own lite\nquorum both\n";

    @TempDir private Path directory;
    @AutoClose private Witness own;
    @AutoClose private WitnessServer server;
    @AutoClose private KillableWitness lite;
    private WitnessSettings operator;

    @BeforeEach
    void start() throws Exception {
        operator = new WitnessSettings(directory, "mintmark.example.com");
        NoteKey log = operator.signer().key(1);
        own =
                new Witness(
                        WitnessPolicy.of("log %s\nquorum none\n".formatted(log.text())),
                        directory.resolve("own"),
                        "own.example/1",
                        InstantSource.system());
        server = new WitnessServer(own, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        lite = new Litewitness(directory.resolve("lite"), log);
        lite.start();
    }

    private String witnesses() {
        return "witness own %s http://127.0.0.1:%d\nwitness lite %s %s\n"
                .formatted(own.key().text(), server.port(), lite.key().text(), lite.url());
    }

    private World world() {
        Map<String, String> settings = new HashMap<>(operator.settings(witnesses() + BOTH));
        settings.put("BROKER_ISSUER", "https://mintmark.example.com");
        return new World(settings);
    }

    private int verify(World world, String policy) {
        operator.settings(policy);
        Map<String, String> environment =
                new HashMap<>(
                        RunningBroker.environment(world.database(), RunningBroker.freePort()));
        environment.put("DATABASE_USERNAME", Who.AUDITOR.login());
        return new Commands(environment, directory)
                .execute(
                        "audit",
                        "verify",
                        "--no-record",
                        "--policy",
                        directory.resolve("policy").toString());
    }

    private static int mint(World world) {
        return world.broker().mint(world.token(), "api").status();
    }

    @Test
    void both_cosign_what_a_broker_seals_and_verify_accepts_their_quorum() {
        try (World world = world()) {
            Eventually.holds(() -> mint(world) == 200);
            Eventually.holds(() ->
                    world.value("SELECT witnessed_at IS NOT NULL FROM runtime.sealing")
                            .equals("t"));
            world.assertRows(
                    "SELECT DISTINCT witness FROM audit.cosignature ORDER BY 1",
                    "lite.example/1",
                    "own.example/1");
            assertEquals(0, verify(world, witnesses() + BOTH));
            String third = WitnessSettings.line("third", server.port());
            String all = "group all all own lite third\nquorum all\n";
            assertEquals(1, verify(world, witnesses() + third + all));
        }
    }

    @Test
    void a_longer_history_that_the_reference_knows_stops_the_broker() throws Exception {
        String longer = operator.signer().sign(1, 1_000_000, new byte[32]);
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request =
                    HttpRequest.newBuilder(URI.create(lite.url() + "/add-checkpoint"))
                            .POST(BodyPublishers.ofString("old 0\n\n" + longer))
                            .build();
            assertEquals(200, client.send(request, BodyHandlers.ofString()).statusCode());
        }
        try (World world = world()) {
            Eventually.holds(() -> mint(world) == 503);
            world.assertRows(
                    "SELECT kind || ' ' || chain || ' ' || place FROM runtime.lost_row",
                    "tree mintmark.example.com/audit/1 1000000");
        }
    }
}
