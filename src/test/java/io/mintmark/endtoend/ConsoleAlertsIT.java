package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.CookieJar;
import io.mintmark.console.RunningConsole;
import io.mintmark.console.SignInStandIn;
import io.mintmark.console.SignInStandIn.Person;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A real Prometheus scrapes a console, which is a process of its own, and a replica of the broker:
 * each incident of the console fires its alerts, and none of the broker's.
 */
class ConsoleAlertsIT {
    static final Set<String> ALERTS =
            Set.of(
                    "MintmarkConsoleDown",
                    "MintmarkConsoleFails",
                    "MintmarkConsoleLoginsFail",
                    "MintmarkConsoleSlow",
                    "MintmarkKeyOld");

    /** The check of the database waits for the slow wire too, while Prometheus waits for it. */
    private static final double SECONDS_BETWEEN_SCRAPES = 3;

    private static final Duration PATIENCE = Eventually.PATIENCE;

    @TempDir private Path directory;

    private final World world = new World();
    private final AtomicBoolean open = new AtomicBoolean(true);
    private final AtomicInteger shown = new AtomicInteger();
    private final int port = RunningBroker.freePort();
    private final String url = "http://localhost:" + port;
    private Map<String, String> environment;
    private CutWire wire;
    private BrokerProcess console;
    private Incidents incidents;
    private Thread visitor;

    @BeforeEach
    void start() throws Exception {
        world.admin(
                """
                INSERT INTO broker.console_access (all_tenants, claim, value) VALUES (true, 'sub', '"audrey"')
                """);
        secretOfTheIdentityProvider(RunningConsole.SECRET);
        URI database = URI.create(world.database().url().substring("jdbc:".length()));
        wire = new CutWire(database.getPort());
        int admin = RunningBroker.freePort();
        environment =
                new HashMap<>(
                        RunningConsole.environment(
                                world.database(), world.issuer().url(), url, port));
        environment.put(
                "DATABASE_URL",
                "jdbc:postgresql://localhost:" + wire.port() + database.getRawPath());
        environment.put("CONSOLE_ADMIN_PORT", Integer.toString(admin));
        console = new BrokerProcess(environment, directory, "console");
        visitor = Thread.ofPlatform().start(this::visits);
        Eventually.holds(PATIENCE, shown::get, status -> status == 200);
        Eventually.holds(() -> world.broker().mint(world.token(), "api").status() == 200);
        incidents =
                new Incidents(
                        directory,
                        new Prometheus.Job("mintmark", 0.5, "http", world.broker().adminPort()),
                        new Prometheus.Job(
                                "mintmark-console", SECONDS_BETWEEN_SCRAPES, "http", admin));
    }

    private void secretOfTheIdentityProvider(String secret) {
        var _ =
                new SignInStandIn(
                        world.issuer(),
                        RunningConsole.CLIENT,
                        secret,
                        url,
                        List.of(new Person("audrey", Map.of())));
    }

    /** Somebody who logs in and reloads a page over and over, also one that fails. */
    private void visits() {
        try (CookieJar browser = new CookieJar()) {
            while (open.get()) {
                visit(browser);
                LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
            }
        }
    }

    private void visit(CookieJar browser) {
        try {
            int status = browser.get(url + "/proof").statusCode();
            shown.set(status / 100 == 3 ? logIn(browser) : status);
        } catch (UncheckedIOException e) {
            // nothing listens yet, or any more
        }
    }

    private int logIn(CookieJar browser) {
        String login = CookieJar.location(browser.get(url + "/proof"));
        return browser.open(login + "&as=audrey").statusCode();
    }

    @AfterEach
    void stop() throws Exception {
        open.set(false);
        console.stop();
        visitor.join();
        incidents.close();
        wire.close();
        world.close();
    }

    @Test
    void each_incident_of_the_console_fires_its_alert_and_no_others() throws Exception {
        incidents.assertNothingFires();
        theIdentityProviderRefusesTheSecret();
        thePrivilegesLackATable();
        theDatabaseIsSlow();
        theLoginIsRevoked();
        theConsoleIsGone();
        theKeyIsOld();
        assertEquals(ALERTS, incidents.shown());
    }

    private void theIdentityProviderRefusesTheSecret() {
        incidents.fires(
                () -> {
                    secretOfTheIdentityProvider("another");
                    for (int i = 0; i < 10; i++) {
                        try (CookieJar browser = new CookieJar()) {
                            assertEquals(401, logIn(browser));
                        }
                        LockSupport.parkNanos(Duration.ofMillis(500).toNanos());
                    }
                },
                () -> secretOfTheIdentityProvider(RunningConsole.SECRET),
                "MintmarkConsoleLoginsFail");
    }

    private void thePrivilegesLackATable() {
        incidents.fires(
                () -> asSuperuser("REVOKE SELECT ON log.verification FROM %s"),
                () -> {
                    assertEquals(500, shown.get());
                    asSuperuser("GRANT SELECT ON log.verification TO %s");
                },
                "MintmarkConsoleFails");
    }

    /**
     * Some fifteen round trips take over two seconds, and less than the six that a page may take.
     */
    private void theDatabaseIsSlow() {
        incidents.fires(
                () -> wire.delay(Duration.ofMillis(100)),
                () -> wire.delay(Duration.ZERO),
                "MintmarkConsoleSlow");
    }

    private void theLoginIsRevoked() {
        incidents.fires(
                () -> asSuperuser("REVOKE USAGE ON SCHEMA internal FROM %s"),
                () -> {
                    incidents.assertLabels("MintmarkConsoleDown", "check", "database");
                    assertEquals(500, shown.get());
                    asSuperuser("GRANT USAGE ON SCHEMA internal TO %s");
                },
                "MintmarkConsoleDown",
                "MintmarkConsoleFails");
    }

    private void asSuperuser(String statement) {
        world.database().runAsSuperuser(statement.formatted(Who.CONSOLE.role()));
    }

    private void theConsoleIsGone() {
        incidents.fires(
                console::kill,
                () -> {
                    incidents.assertLabels("MintmarkConsoleDown", "job", "mintmark-console");
                    Path key = Path.of(environment.get("CONSOLE_COOKIE_KEY_FILE"));
                    Instant written = Instant.now().minus(Duration.ofDays(401));
                    Unchecked.run(() -> Files.setLastModifiedTime(key, FileTime.from(written)));
                    console.startAgain();
                },
                "MintmarkConsoleDown");
    }

    /** The console that was started last has it. */
    private void theKeyIsOld() {
        incidents.fires(
                () -> {},
                () -> incidents.assertLabels("MintmarkKeyOld", "file", "CONSOLE_COOKIE_KEY_FILE"),
                "MintmarkKeyOld");
    }
}
