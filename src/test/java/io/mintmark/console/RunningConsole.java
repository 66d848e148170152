package io.mintmark.console;

import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRouting;
import io.mintmark.base.config.ConsoleSettings;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.metrics.Meters;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.sql.ReadOnlyDatabase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.start.Certificates;
import io.mintmark.broker.token.IssuerKeys;
import io.mintmark.endtoend.RunningBroker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A console on a loopback port, with whatever pages. */
public final class RunningConsole implements AutoCloseable {
    public static final String CLIENT = "mintmark-console";
    public static final String SECRET = "s3cr3t+of/the=client";
    private static final int CONNECTIONS = 2;

    private final String local;
    private final ViewerDatabase database;
    private final ConsoleServer server;

    private RunningConsole(String local, ViewerDatabase database, ConsoleServer server) {
        this.local = local;
        this.database = database;
        this.server = server;
    }

    /**
     * Starts one.
     *
     * @param issuer where people log in
     * @param settings more of them, or others
     */
    static RunningConsole start(
            TestDatabase database, String issuer, PageMaker pages, Map<String, String> settings) {
        int port = RunningBroker.freePort();
        return start(database, issuer, pages, port, settings);
    }

    static RunningConsole start(
            TestDatabase database,
            String issuer,
            PageMaker pages,
            int port,
            Map<String, String> settings) {
        String local = "http://localhost:" + port;
        Map<String, String> environment = new HashMap<>(environment(database, issuer, local, port));
        environment.putAll(settings);
        ConsoleSettings read = new SettingsReader(environment, Path.of("target")).console();
        ReadOnlyDatabase connections =
                TestDatabase.patient(database.login(Who.CONSOLE), CONNECTIONS);
        ViewerDatabase viewers = new ViewerDatabase(connections, CONNECTIONS);
        GuardedHttp http = new GuardedHttp(new Destinations(read.allowedHosts()));
        ConsoleServer server =
                new ConsoleServer(
                        read,
                        new Certificates(Optional.empty(), Optional.empty()),
                        LoginEndpoints.of(issuer, http),
                        CookieKey.read(read.cookieKeyFile()),
                        viewers,
                        pages.of(viewers),
                        new IssuerKeys(http, InstantSource.system()),
                        new ConsoleMetrics(new Meters()),
                        InstantSource.system());
        server.start();
        return new RunningConsole(local, viewers, server);
    }

    /** Makes pages over a database. */
    interface PageMaker {
        PageRoutes of(ViewerDatabase database);
    }

    /** Pages that one handler answers. */
    static PageRoutes pages(Set<String> paths, Handler handler) {
        return new PageRoutes() {
            @Override
            public Set<String> paths() {
                return paths;
            }

            @Override
            public Set<String> files() {
                return Set.of("/mints/download", "/proof/checkpoints", "/reviews/download");
            }

            @Override
            public void register(HttpRouting.Builder routing) {
                routing.any(handler);
            }
        };
    }

    /** What an operator sets. */
    public static Map<String, String> environment(
            TestDatabase database, String issuer, String url, int port) {
        return Map.ofEntries(
                Map.entry("DATABASE_URL", database.url()),
                Map.entry("DATABASE_USERNAME", Who.CONSOLE.login()),
                Map.entry("DATABASE_PASSWORD", database.password()),
                Map.entry("CONSOLE_HOST", "127.0.0.1"),
                Map.entry("CONSOLE_PORT", Integer.toString(port)),
                Map.entry("CONSOLE_URL", url),
                Map.entry("CONSOLE_OIDC_ISSUER", issuer),
                Map.entry("CONSOLE_OIDC_CLIENT_ID", CLIENT),
                Map.entry("CONSOLE_OIDC_CLIENT_SECRET", SECRET),
                Map.entry("CONSOLE_COOKIE_KEY_FILE", cookieKey().toString()),
                Map.entry("OUTBOUND_ALLOWED_HOSTS", "localhost,127.0.0.1"),
                Map.entry("SERVER_DRAIN", "PT0S"),
                Map.entry("RATE_LIMIT_ENABLED", "false"));
    }

    static Path cookieKey() {
        try {
            Path file = Files.createTempFile("console", ".key");
            file.toFile().deleteOnExit();
            byte[] key = new byte[32];
            new SecureRandom().nextBytes(key);
            return Files.writeString(file, Base64.getEncoder().encodeToString(key) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where it is for this machine, whatever its settings call it. */
    String url() {
        return local;
    }

    @Override
    public void close() {
        server.close();
        database.close();
    }
}
