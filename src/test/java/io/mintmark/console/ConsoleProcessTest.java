package io.mintmark.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.base.start.StartFailed;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.console.SignInStandIn.Person;
import io.mintmark.console.wiring.ConsoleStartup;
import io.mintmark.endtoend.BrokerProcess;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.provider.types.CredentialTypes;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The console as a program: how it starts, when it doesn't, and what the broker has of it. */
@Tag("heavy")
class ConsoleProcessTest {
    /** Where {@code -Xlog:class+load} says that a class comes from. */
    private static final Pattern SOURCE = Pattern.compile("^(?:\\[.*] )?(\\S+) source: (\\S+)");

    /** What came with the console: its jars, its pages, its style. */
    private static final Pattern OF_THE_CONSOLE =
            Pattern.compile(
                    "io\\.mintmark\\.console\\..*|.*/(helidon-(security|webclient|tracing|common-crypto)"
                            + "|jte-|jersey|hk2|picocss)[^/]*\\.jar");

    /** Helidon's registry reads what services all jars describe, and creates none of them. */
    private static final Pattern DESCRIPTION =
            Pattern.compile("io\\.helidon\\..*(__ServiceDescriptor|\\.RestClient)(\\$.*)?");

    @AutoClose private static TestDatabase database;
    private static IssuerStandIn issuer;

    @TempDir private Path directory;
    private final Map<String, String> environment = new HashMap<>();
    private int port;

    @BeforeAll
    static void setUp() {
        database = TestDatabase.migrated();
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('acme');
                INSERT INTO broker.console_access (all_tenants, claim, value) VALUES (true, 'sub', '"audrey"')
                """);
        issuer = database.closing(IssuerStandIn.start());
    }

    @BeforeEach
    void settings() {
        port = RunningBroker.freePort();
        new SignInStandIn(
                issuer,
                RunningConsole.CLIENT,
                RunningConsole.SECRET,
                "http://localhost:" + port,
                List.of(new Person("audrey", Map.of())));
        environment.putAll(
                RunningConsole.environment(
                        database, issuer.url(), "http://localhost:" + port, port));
    }

    private String refusal() {
        var settings = new SettingsReader(environment, directory).console();
        return String.valueOf(
                assertThrows(
                                StartFailed.class,
                                () ->
                                        new ConsoleStartup(
                                                        settings,
                                                        CredentialTypes.byName(),
                                                        InstantSource.system())
                                                .run())
                        .getMessage());
    }

    @Test
    void a_console_serves_until_it_is_told_to_stop() throws IOException {
        BrokerProcess console = new BrokerProcess(environment, directory, "console");
        String url = "http://localhost:" + port;
        try (CookieJar browser = new CookieJar()) {
            console.awaits(() -> answers(browser, url));
            HttpResponse<String> page =
                    browser.open(CookieJar.location(browser.get(url + "/")) + "&as=audrey");

            assertEquals(200, page.statusCode(), page.body());
            assertTrue(page.body().contains("<h1>"), page.body());
            assertEquals(200, browser.get(url + "/tenants/acme").statusCode());
            assertEquals(200, browser.get(url + "/style/console.css").statusCode());
        } finally {
            console.stop();
        }
        assertEquals(143, console.status());
        List<String> log = Files.readAllLines(directory.resolve("broker.log"));
        assertTrue(
                log.stream()
                        .anyMatch(line ->
                                line.contains("\"viewer\":\"audrey\"")
                                        && line.contains("/tenants/acme")),
                () -> "no line says who looked: " + log);
    }

    private static boolean answers(CookieJar browser, String url) {
        try {
            return browser.get(url + "/health").statusCode() == 200;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    @Test
    void a_login_that_could_see_more_stops_the_start() {
        environment.put("DATABASE_USERNAME", Who.AUDITOR.login());

        String refusal = refusal();

        assertTrue(
                refusal.contains("login 'test_auditor' is a member of mintmark_auditor"), refusal);
    }

    @Test
    void a_key_of_cookies_that_is_none_stops_the_start() throws IOException {
        Path key = Files.writeString(directory.resolve("short.key"), "c2hvcnQ=");
        environment.put("CONSOLE_COOKIE_KEY_FILE", key.toString());

        assertEquals(
                "CONSOLE_COOKIE_KEY_FILE: '%1$s' holds a key of 5 bytes instead of 32; correct that line, or, if the key is lost, write a new one (openssl rand -base64 32), which ends all sessions"
                        .formatted(key),
                refusal());
    }

    @Test
    void an_identity_provider_that_calls_itself_otherwise_stops_the_start() {
        issuer.serve(IssuerStandIn.DISCOVERY, "{\"issuer\": \"https://other.example.com\"}");

        assertEquals(
                "CONSOLE_OIDC_ISSUER %s: the discovery document names another issuer, 'https://other.example.com'"
                        .formatted(issuer.url()),
                refusal());
    }

    @Test
    void an_identity_provider_on_a_private_address_must_be_listed() {
        environment.remove("OUTBOUND_ALLOWED_HOSTS");

        String refusal = refusal();

        assertTrue(refusal.contains("OUTBOUND_ALLOWED_HOSTS"), refusal);
    }

    @Test
    void a_broker_loads_nothing_of_the_console() throws IOException {
        Path loaded = directory.resolve("loaded.log");
        Map<String, String> broker = new HashMap<>(RunningBroker.environment(database, port));
        broker.put("JDK_JAVA_OPTIONS", "-Xlog:class+load:file=" + loaded);
        BrokerProcess process = new BrokerProcess(broker, directory);
        String url = "http://localhost:" + port;
        try (CookieJar client = new CookieJar()) {
            process.awaits(() -> answers(client, url));
            assertEquals(401, client.get(url + "/credentials/keys").statusCode());
            client.get(url + "/.well-known/openid-configuration");
        } finally {
            process.stop();
        }

        List<String> lines = Files.readAllLines(loaded);

        assertTrue(
                lines.stream().anyMatch(line -> line.contains("io.mintmark.broker.http.Routes")),
                "the log of loaded classes says nothing");
        assertEquals(List.of(), lines.stream().flatMap(l -> ofTheConsole(l).stream()).toList());
    }

    private static Optional<String> ofTheConsole(String line) {
        Matcher source = SOURCE.matcher(line);
        return source.find()
                        && !DESCRIPTION.matcher(source.group(1)).matches()
                        && (OF_THE_CONSOLE.matcher(source.group(1)).matches()
                                || OF_THE_CONSOLE.matcher(source.group(2)).matches())
                ? Optional.of(line)
                : Optional.empty();
    }
}
