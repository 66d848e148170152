package io.mintmark.development;

import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.config.InvalidSettings;
import io.mintmark.base.config.LogSettings;
import io.mintmark.base.config.LogSettings.LogFormat;
import io.mintmark.base.config.LogSettings.LogLevel;
import io.mintmark.base.config.ServiceSettings;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.logging.Logging;
import io.mintmark.base.schema.Migrations;
import io.mintmark.base.sql.DatabaseUnfit;
import io.mintmark.base.start.StartFailed;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.broker.wiring.Broker;
import io.mintmark.broker.wiring.Startup;
import io.mintmark.endtoend.PemFiles;
import io.mintmark.provider.sts.StsStandIn;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;

/**
 * Everything on one machine, for trying the broker out: a real PostgreSQL whose data is kept, an
 * identity provider that signs tokens for any subject, a demo tenant, and the broker as operators
 * start it. None of this is in the jar.
 */
public final class Development {
    private static final Path HOME = Path.of(".mintmark");

    /**
     * Before the first start of any demo; seconds since then have nine digits at most until 2057.
     */
    private static final Instant RELEASED = Instant.parse("2026-01-01T00:00:00Z");

    /** EX_CONFIG of sysexits.h, which the build takes for an end in order: all has been said. */
    private static final int TOLD = 78;

    private Development() {}

    /** Starts everything, prints what to paste, and serves until it is stopped. */
    public static void main(String[] args) throws IOException {
        try {
            start();
        } catch (StartFailed | InvalidSettings e) {
            System.err.println(e.getMessage());
            System.exit(TOLD);
        }
    }

    private static void start() throws IOException {
        Logging.install(new LogSettings(LogFormat.TEXT, LogLevel.INFO));
        Lifeline.endWithParent();
        DemoDatabase.stopWhatIsLeft(HOME.resolve("postgres"));
        DemoPorts.requireFree(System.getenv());
        System.out.println("Starting PostgreSQL, then the broker and what it needs.");
        DemoDatabase database =
                DemoDatabase.start(HOME.resolve("postgres"), port(DemoPorts.Port.DATABASE));
        ServiceSettings settings = new SettingsReader(environment(database), HOME).all();
        migrate(settings.database());
        String url = settings.broker().url().orElseThrow().toString();
        IssuerStandIn issuer = IssuerStandIn.start(port(DemoPorts.Port.IDENTITY_PROVIDER));
        issuer.rotate(); // a key of its own, with an id that no earlier start had
        StsStandIn storage = storage(url);
        database.setUp(issuer.url(), storage.endpoint()); // before a checkpoint dates it
        Broker broker = new Startup(settings, InstantSource.system()).run();
        new DemoPages(database, url).serveFrom(issuer);
        DemoConsole console = DemoConsole.start(HOME, database, issuer, url);
        Runtime.getRuntime()
                .addShutdownHook(
                        Thread.ofPlatform()
                                .unstarted(() -> {
                                    console.close();
                                    broker.close();
                                    storage.close();
                                    issuer.close();
                                    database.close();
                                }));
        new DemoTraffic(URI.create(url), issuer, database).run();
        System.out.println(
                Welcome.text(url, console.url(), issuer.url(), storage.endpoint(), database));
    }

    /**
     * Also runs repeatable files whose text has changed. A start compares versions only, and in
     * development most changes raise none.
     */
    private static void migrate(DatabaseSettings database) {
        try {
            var _ = Migrations.of(database).run();
        } catch (DatabaseUnfit e) {
            throw new StartFailed("The demo's database can't be migrated: " + e.getMessage());
        }
    }

    private static int port(DemoPorts.Port port) {
        return port.number(System.getenv());
    }

    /** Storage like S3 that trusts the broker, and has one bucket. */
    private static StsStandIn storage(String brokerUrl) {
        StsStandIn storage =
                StsStandIn.minio(
                        port(DemoPorts.Port.STORAGE), brokerUrl, () -> keySet(brokerUrl), "policy");
        // credentials are numbered, and no number may come again after a restart
        storage.numberFrom((int) Duration.between(RELEASED, Instant.now()).toSeconds());
        storage.serve(DemoBucket.PATH, new DemoBucket());
        return storage;
    }

    private static String keySet(String brokerUrl) {
        try (InputStream in =
                URI.create(brokerUrl + "/.well-known/jwks.json").toURL().openStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What an operator would set; the real environment goes before it. */
    private static Map<String, String> environment(DemoDatabase database) throws IOException {
        Map<String, String> given = System.getenv();
        String port = given.getOrDefault("SERVER_PORT", "8080");
        Map<String, String> environment = new HashMap<>();
        environment.put("SERVER_HOST", "127.0.0.1");
        environment.put("BROKER_URL", "http://localhost:" + port);
        environment.putAll(given);
        environment.putAll(database.settings());
        environment.put("BROKER_SIGNING_KEYS_DIR", signingKeys().toString());
        environment.put("AUDIT_SIGNING_KEY_FILE", key(HOME.resolve("audit.pem")).toString());
        environment.put("OUTBOUND_ALLOWED_HOSTS", "localhost,127.0.0.1");
        return environment;
    }

    private static Path signingKeys() throws IOException {
        Path directory = Files.createDirectories(HOME.resolve("signing-keys"));
        key(directory.resolve("2026-01-01.pem"));
        return directory.toAbsolutePath();
    }

    private static Path key(Path file) {
        if (!Files.exists(file)) {
            PemFiles.p256(file);
        }
        return file.toAbsolutePath();
    }
}
