package io.mintmark.endtoend;

import io.mintmark.ReservedPorts;
import io.mintmark.Unchecked;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.wiring.Broker;
import io.mintmark.broker.wiring.Startup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** A broker that was started as an operator would, from environment variables, over real HTTP. */
public final class RunningBroker implements AutoCloseable {
    /** Helidon keeps figures of its servers in a map for one thread. */
    private static final Lock STARTING = new ReentrantLock();

    private final Broker broker;
    private final URI url;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private RunningBroker(Broker broker, URI url) {
        this.broker = broker;
        this.url = url;
    }

    /** A broker on a free port, on this database. */
    public static RunningBroker on(TestDatabase database) {
        return on(database, Map.of());
    }

    /**
     * A broker on a free port, on this database.
     *
     * @param further settings besides those that every broker needs
     */
    public static RunningBroker on(TestDatabase database, Map<String, String> further) {
        return at(database.url(), further);
    }

    /** The same on a machine with a clock of its own. */
    static RunningBroker on(TestDatabase database, InstantSource clock) {
        return at(database.url(), Map.of(), clock);
    }

    /** The same on a database that isn't of the tests' shared server. */
    public static RunningBroker at(String databaseUrl, Map<String, String> further) {
        return at(databaseUrl, further, InstantSource.system());
    }

    private static RunningBroker at(
            String databaseUrl, Map<String, String> further, InstantSource clock) {
        int port = freePort();
        Map<String, String> environment = new HashMap<>(environment(databaseUrl, port));
        environment.putAll(further);
        Startup startup = new Startup(new SettingsReader(environment, Keys.DIRECTORY).all(), clock);
        STARTING.lock();
        try {
            return new RunningBroker(startup.run(), URI.create("http://localhost:" + port));
        } finally {
            STARTING.unlock();
        }
    }

    /** What an operator sets. */
    public static Map<String, String> environment(TestDatabase database, int port) {
        return environment(database.url(), port);
    }

    static Map<String, String> environment(String databaseUrl, int port) {
        Map<String, String> environment = new HashMap<>();
        environment.put("DATABASE_URL", databaseUrl);
        environment.put("DATABASE_USERNAME", Who.APP.login());
        environment.put("DATABASE_PASSWORD", TestDatabase.PASSWORD);
        environment.put("DATABASE_OWNER_USERNAME", Who.OWNER.login());
        environment.put("DATABASE_OWNER_PASSWORD", TestDatabase.PASSWORD);
        environment.put("SERVER_PORT", Integer.toString(port));
        environment.put("ADMIN_PORT", "0");
        environment.put("BROKER_URL", "http://localhost:" + port);
        environment.put("BROKER_SIGNING_KEYS_DIR", Keys.SIGNING.toString());
        environment.put("AUDIT_SIGNING_KEY_FILE", Keys.AUDIT.toString());
        environment.put("OUTBOUND_ALLOWED_HOSTS", "localhost,127.0.0.1");
        environment.put("RATE_LIMIT_ENABLED", "false");
        environment.put("SERVER_DRAIN", "PT0S");
        return environment;
    }

    public URI url() {
        return url;
    }

    public int adminPort() {
        return broker.adminPort();
    }

    /** Requests access to a key for 15 minutes. */
    public Answer requestAccess(String token, String key) {
        return send(
                request("/access-requests")
                        .header("Content-Type", "application/json")
                        .header("Authorization", "Bearer " + token)
                        .POST(
                                BodyPublishers.ofString(
                                        """
                                        {"keys": ["%s"], "seconds": 900, "reason": "The export is stuck"}
                                        """
                                                .formatted(key))));
    }

    /** Asks for credentials with the token in the header. */
    public Answer mint(String token, String... keys) {
        String names = keys.length == 0 ? "" : "\"" + String.join("\",\"", keys) + "\"";
        return post("{\"keys\":[" + names + "]}", "Authorization", "Bearer " + token);
    }

    /** Posts a body to the mint endpoint, as JSON. */
    public Answer post(String body, String... headers) {
        HttpRequest.Builder request =
                request("/credentials/mint")
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body));
        return send(headers.length == 0 ? request : request.headers(headers));
    }

    /** The keys that a token's subject could mint. */
    public Answer keys(String token) {
        return get("/credentials/keys", "Authorization", "Bearer " + token);
    }

    /** The keys with which its tokens are verified. */
    public String keySet() {
        return get("/.well-known/jwks.json").response().body();
    }

    public Answer get(String path, String... headers) {
        HttpRequest.Builder request = request(path);
        return send(headers.length == 0 ? request : request.headers(headers));
    }

    /** A request to a path, for {@link #send}. */
    public HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(url.resolve(path));
    }

    /** Sends anything. */
    public Answer send(HttpRequest.Builder request) {
        return Unchecked.call(() -> {
            HttpResponse<String> response =
                    client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            return new Answer(response);
        });
    }

    /** A port that nothing listens on, and that no other JVM of tests gets. */
    public static int freePort() {
        return ReservedPorts.next();
    }

    /** Stops it as a signal would, while clients are still there. */
    public void stop() {
        broker.close();
    }

    @Override
    public void close() {
        client.close();
        broker.close();
    }

    /** The keys that every broker of the tests has, made once. */
    private static final class Keys {
        static final Path DIRECTORY = directory();
        static final Path SIGNING = DIRECTORY.resolve("signing");
        static final Path AUDIT = DIRECTORY.resolve("audit.pem");

        private static Path directory() {
            try {
                Path directory = Files.createTempDirectory("mintmark-keys");
                Files.createDirectory(directory.resolve("signing"));
                PemFiles.p256(directory.resolve("signing").resolve("2026-01-01.pem"));
                PemFiles.rsa(directory.resolve("signing").resolve("2025-01-01.pem"));
                PemFiles.p256(directory.resolve("audit.pem"));
                return directory;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
