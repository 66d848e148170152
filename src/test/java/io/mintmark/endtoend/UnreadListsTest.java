package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.provider.x509.Ca;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Strangers ask for the longest answers of a broker with 256 MiB, and read nothing of them. It
 * lives, and mints of a tenant take as long as before.
 */
@Tag("heavy")
@EnabledOnOs(OS.LINUX)
class UnreadListsTest {
    private static final int ENDED = 17_900;
    private static final int CONNECTIONS = 500;
    private static final int ADDRESSES = 25;
    private static final int MINTS = 60;

    /** What a client's system takes for it. */
    private static final int SMALL = 4096;

    /** An eighth of the heap for answers, and what a broker takes that has served a few mints. */
    private static final long MOST_HEAP = 96L << 20;

    private final TestDatabase database = TestDatabase.migrated();
    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI url = URI.create("http://localhost:" + RunningBroker.freePort());
    private final List<Socket> strangers = new ArrayList<>();
    private BrokerProcess broker;

    @TempDir private Path directory;

    @BeforeEach
    void start() throws IOException {
        Ca ca = Ca.of("EC", Duration.ofDays(1));
        Path secrets = Files.createDirectories(directory.resolve("secrets/acme"));
        Files.writeString(secrets.resolve("ca"), ca.key());
        database.admin(World.tenant(issuer.url(), issuer.url()));
        database.admin(HugeTenantTest.tenant("many", issuer.url()));
        database.admin(
                """
                INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
                SELECT 'many', 'k' || n, 'own', repeat('x', 1000), 600, '{"audience": "https://api.example.com"}'
                  FROM generate_series(1, 300) AS n;
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'many', 'many', 'ci:main', 'k' || n FROM generate_series(1, 300) AS n
                """);
        database.admin(
                """
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                VALUES ('acme', 'tls', 'x509', '{"ca_key": {"file": "ca"}, "ca_certificate": %s}'),
                       ('acme', 'hosts', 'ssh', '{"ca_key": {"file": "ca"}}');
                """
                        .formatted(new ObjectMapper().valueToTree(ca.certificate())));
        database.runAsSuperuser(
                """
                ALTER TABLE broker.ended_credential DISABLE TRIGGER USER;
                INSERT INTO broker.ended_credential (mint_id, tenant, provider_type, expires_at, reason)
                SELECT overlay(gen_random_uuid()::text PLACING '7' FROM 15 FOR 1)::uuid,
                       'acme', type, now() + interval '1 day', 'INC-7'
                  FROM generate_series(1, %d), unnest('{x509,ssh}'::text[]) AS type;
                DO $$
                DECLARE
                    name text;
                BEGIN
                    FOR name IN SELECT tgname FROM pg_trigger
                                 WHERE tgrelid = 'broker.ended_credential'::regclass AND NOT tgisinternal LOOP
                        EXECUTE format('ALTER TABLE broker.ended_credential ENABLE ALWAYS TRIGGER %%I', name);
                    END LOOP;
                END
                $$;
                """
                        .formatted(ENDED));
        Map<String, String> environment =
                new HashMap<>(RunningBroker.environment(database, url.getPort()));
        environment.put("SECRETS_DIR", Objects.requireNonNull(secrets.getParent()).toString());
        environment.put("SERVER_ANSWER_TIMEOUT", "PT5M");
        broker =
                new BrokerProcess(
                        List.of("-XX:+ExitOnOutOfMemoryError", "io.mintmark.Main"),
                        environment,
                        directory);
        broker.awaits(() -> isServed("/health"));
    }

    @AfterEach
    void stop() throws IOException {
        for (Socket stranger : strangers) {
            stranger.close();
        }
        broker.kill();
        http.close();
        issuer.close();
        database.close();
    }

    private boolean isServed(String path) {
        try {
            return get(path).statusCode() == 200;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    private HttpResponse<byte[]> get(String path) {
        return Unchecked.call(() ->
                http.send(
                        HttpRequest.newBuilder(url.resolve(path)).build(),
                        BodyHandlers.ofByteArray()));
    }

    private Answer mint() {
        return Unchecked.call(() ->
                new Answer(
                        http.send(
                                HttpRequest.newBuilder(url.resolve("/credentials/mint"))
                                        .header("Content-Type", "application/json")
                                        .header(
                                                "Authorization",
                                                "Bearer "
                                                        + issuer.sign(
                                                                World.SUBJECT, World.AUDIENCE))
                                        .POST(BodyPublishers.ofString("{\"keys\":[\"api\"]}"))
                                        .build(),
                                BodyHandlers.ofString())));
    }

    /** Sends a request from one of many addresses, and never reads. */
    private void askFor(String path, String headers, int number) throws IOException {
        Socket socket = new Socket();
        strangers.add(socket);
        socket.setReceiveBufferSize(SMALL);
        socket.bind(
                new InetSocketAddress(
                        InetAddress.ofLiteral("127.0.7." + (1 + number % ADDRESSES)), 0));
        socket.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), url.getPort()));
        socket.getOutputStream()
                .write(
                        ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n")
                                .getBytes(StandardCharsets.US_ASCII));
    }

    private void flood(List<String> requests) throws IOException {
        Duration usual = Latency.median(MINTS, this::mint);
        for (int i = 0; i < CONNECTIONS; i++) {
            String[] request = requests.get(i % requests.size()).split("\n", 2);
            askFor(request[0], request.length > 1 ? request[1] : "", i);
        }
        Latency.assertAtMostTwice(usual, () -> Latency.median(MINTS, this::mint));
        long heap = broker.liveHeap();
        System.out.printf(
                "%.0f MiB alive while %d clients don't read%n", heap / 1048576.0, CONNECTIONS);
        assertTrue(heap < MOST_HEAP, "%d bytes alive".formatted(heap));
        assertTrue(heap > 0, "the process lives");
    }

    @Test
    void clients_that_do_not_read_revocation_lists_hold_one_copy_of_each() throws IOException {
        assertTrue(get("/x509/acme/tls/crl").body().length > ENDED * 30);

        flood(
                List.of(
                        "/x509/acme/tls/crl\nAccept: text/plain\r\n",
                        "/x509/acme/tls/crl",
                        "/ssh/acme/krl",
                        "/openapi"));

        assertEquals(200, get("/x509/acme/tls/crl").statusCode());
        assertEquals(200, get("/ssh/acme/krl").statusCode());
    }

    @Test
    void answers_of_their_own_are_bounded_for_clients_that_do_not_read() throws IOException {
        String token = issuer.sign(World.SUBJECT, "many");
        Eventually.holds(() -> isServed("/credentials/keys?token=" + token));

        flood(List.of("/credentials/keys\nAuthorization: Bearer " + token + "\r\n"));

        assertEquals(200, get("/credentials/keys?token=" + token).statusCode());
    }
}
