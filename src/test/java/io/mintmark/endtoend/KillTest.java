package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.admin.cli.Commands;
import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Clients mint all the time, while the broker is killed, and the database is stopped and frozen.
 * How often: {@code -Dkill.rounds=20}.
 */
@Tag("heavy")
@EnabledOnOs(OS.LINUX)
class KillTest {
    private static final int ROUNDS = Integer.getInteger("kill.rounds", 1);
    private static final int CLIENTS = 8;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Queue<String> received = new ConcurrentLinkedQueue<>();
    private final AtomicInteger failed = new AtomicInteger();
    private final HttpClient http =
            HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .connectTimeout(Duration.ofSeconds(2))
                    .build();
    private volatile boolean done;

    @TempDir private Path directory;

    @Test
    void every_credential_that_left_is_on_record_whatever_is_killed() throws Exception {
        try (OwnServer server = new OwnServer(directory);
                IssuerStandIn issuer = IssuerStandIn.start()) {
            Map<String, String> environment = environment(server);
            BrokerProcess broker = new BrokerProcess(environment, directory);
            URI mint = URI.create(environment.get("BROKER_URL") + "/credentials/mint");
            broker.awaits(() -> serves(server));
            server.run(configuration(issuer));
            List<Thread> clients = clients(mint, issuer.sign("ci:main", "mintmark-acme"));
            for (int round = 0; round < ROUNDS; round++) {
                disturb(server, broker);
            }
            done = true;
            for (Thread client : clients) {
                client.join();
            }
            broker.stop();
            judge(server, environment, broker.printed());
        }
    }

    private void disturb(OwnServer server, BrokerProcess broker) {
        underLoad();
        broker.kill();
        broker.startAgain();
        underLoad();
        server.stopImmediately();
        inVain();
        server.startAgain();
        underLoad();
        server.freeze();
        inVain();
        server.thaw();
        underLoad();
        server.freeze();
        broker.kill();
        broker.startAgain();
        server.thaw();
        underLoad();
    }

    /** Which a broker that starts again serves, too. */
    private void underLoad() {
        int before = received.size();
        Eventually.holds(BrokerProcess.START, () -> received.size() >= before + 100);
    }

    /** Every client has an answer without a credential, or a time-out. */
    private void inVain() {
        int before = failed.get();
        Eventually.holds(() -> failed.get() >= before + CLIENTS);
    }

    private List<Thread> clients(URI mint, String token) {
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(Thread.ofVirtual().start(() -> mintOnAndOn(mint, token)));
        }
        return clients;
    }

    private void mintOnAndOn(URI mint, String token) {
        HttpRequest request =
                HttpRequest.newBuilder(mint)
                        .header("Authorization", "Bearer " + token)
                        .header("Content-Type", "application/json")
                        .timeout(Duration.ofSeconds(15))
                        .POST(HttpRequest.BodyPublishers.ofString("{\"keys\":[\"api\"]}"))
                        .build();
        while (!done) {
            try {
                take(http.send(request, HttpResponse.BodyHandlers.ofString()));
            } catch (IOException e) {
                pause();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private void take(HttpResponse<String> answer) throws IOException {
        JsonNode token = JSON.readTree(answer.body()).at("/credentials/api/ACCESS_TOKEN");
        if (token.isTextual()) {
            received.add(sha256(token.textValue()));
        } else {
            pause();
        }
    }

    private void pause() {
        failed.incrementAndGet();
        try {
            TimeUnit.MILLISECONDS.sleep(50);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String sha256(String text) {
        try {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private void judge(OwnServer server, Map<String, String> environment, List<String> printed)
            throws IOException {
        Set<String> recorded =
                new TreeSet<>(
                        server.column(
                                "SELECT credential_id FROM audit.event WHERE kind = 'issued'"));
        List<String> unrecorded = received.stream().filter(id -> !recorded.contains(id)).toList();
        assertEquals(List.of(), unrecorded);
        assertEquals(
                List.of(),
                server.column(
                        "SELECT o.mint_id FROM audit.event AS o WHERE o.kind = 'issued' AND NOT"
                                + " EXISTS (SELECT FROM audit.event AS r WHERE r.step = 1"
                                + " AND r.mint_id = o.mint_id)"));
        Path kept = directory.resolve("kept.jsonl");
        Files.write(kept, printed);
        assertTrue(printed.size() > ROUNDS * 2, printed.toString());
        environment.put("DATABASE_USERNAME", "kill_auditor");
        assertEquals(
                0,
                new Commands(environment, Path.of(""))
                        .execute("audit", "verify", "--checkpoints", kept.toString()));
        System.out.printf(
                "%d credentials received, %s issued, %s unresolved, %s chains, %d checkpoints%n",
                received.size(),
                recorded.size(),
                server.column("SELECT count(*) FROM audit.unresolved"),
                server.column("SELECT count(DISTINCT chain) FROM audit.event"),
                printed.size());
    }

    /** It seals when it starts, after the migrations. */
    private static boolean serves(OwnServer server) {
        try {
            return !server.column("SELECT number FROM audit.checkpoint").isEmpty();
        } catch (IllegalStateException e) {
            return false;
        }
    }

    private Map<String, String> environment(OwnServer server) throws IOException {
        server.run(Files.readString(Path.of("db", "roles.sql")));
        server.run(
                """
                CREATE ROLE kill_owner LOGIN PASSWORD '%1$s' IN ROLE mintmark_owner;
                CREATE ROLE kill_auditor LOGIN PASSWORD '%1$s' IN ROLE mintmark_auditor;
                CREATE ROLE kill_app LOGIN PASSWORD '%1$s' IN ROLE mintmark_app;
                """
                        .formatted(OwnServer.PASSWORD));
        Files.createDirectory(directory.resolve("signing"));
        PemFiles.p256(directory.resolve("signing").resolve("2026-01-01.pem"));
        PemFiles.p256(directory.resolve("audit.pem"));
        int port = RunningBroker.freePort();
        Map<String, String> environment = new HashMap<>();
        environment.put("DATABASE_URL", server.url());
        environment.put("DATABASE_USERNAME", "kill_app");
        environment.put("DATABASE_PASSWORD", OwnServer.PASSWORD);
        environment.put("DATABASE_OWNER_USERNAME", "kill_owner");
        environment.put("DATABASE_OWNER_PASSWORD", OwnServer.PASSWORD);
        environment.put("SERVER_PORT", Integer.toString(port));
        environment.put("ADMIN_PORT", "0");
        environment.put("BROKER_URL", "http://localhost:" + port);
        environment.put("BROKER_SIGNING_KEYS_DIR", directory.resolve("signing").toString());
        environment.put("AUDIT_SIGNING_KEY_FILE", directory.resolve("audit.pem").toString());
        environment.put("OUTBOUND_ALLOWED_HOSTS", "localhost,127.0.0.1");
        environment.put("RATE_LIMIT_ENABLED", "false");
        return environment;
    }

    private static String configuration(IssuerStandIn issuer) {
        return """
        INSERT INTO broker.tenant (name) VALUES ('acme');
        INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
        VALUES ('ci', 'acme', '%s', '{mintmark-acme}');
        INSERT INTO broker.access_provider (tenant, name, type, settings)
        VALUES ('acme', 'own', 'jwt', '{}');
        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
        VALUES ('acme', 'api', 'own', 600, '{"audience": "https://api.example.com"}');
        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
        VALUES ('acme', 'ci', 'ci:main', 'api');
        """
                .formatted(issuer.url());
    }
}
