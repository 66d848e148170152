package io.mintmark.console;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.outbound.Authority;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.broker.token.LogBook;
import io.mintmark.console.SignInStandIn.Person;
import io.mintmark.console.wiring.Console;
import io.mintmark.console.wiring.ConsoleStartup;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.provider.types.CredentialTypes;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What operators see of a console: health and metrics, on a port of their own. */
class ConsoleAdminPortTest {
    private static final Duration AGE = Duration.ofDays(400);

    private static TestDatabase database;
    private static IssuerStandIn issuer;
    private static Console console;
    private static HttpClient client;
    private static String pages;
    private static String cookieKey;

    @BeforeAll
    static void setUp(@TempDir Path directory) throws Exception {
        database = TestDatabase.migrated();
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('named-nowhere');
                INSERT INTO broker.console_access (all_tenants, claim, value) VALUES (true, 'sub', '"audrey"')
                """);
        issuer = IssuerStandIn.start();
        int port = RunningBroker.freePort();
        pages = "http://localhost:" + port;
        var _ =
                new SignInStandIn(
                        issuer,
                        RunningConsole.CLIENT,
                        RunningConsole.SECRET,
                        pages,
                        List.of(new Person("audrey", Map.of())));
        Map<String, String> settings =
                new HashMap<>(RunningConsole.environment(database, issuer.url(), pages, port));
        Authority authority = new Authority();
        Path certificate = directory.resolve("admin.crt");
        Path key = directory.resolve("admin.key");
        authority.write("localhost", certificate, key);
        settings.put("CONSOLE_ADMIN_PORT", "0");
        settings.put("CONSOLE_ADMIN_TLS_CERTIFICATE_FILE", certificate.toString());
        settings.put("CONSOLE_ADMIN_TLS_KEY_FILE", key.toString());
        Path cookies = Path.of(settings.get("CONSOLE_COOKIE_KEY_FILE"));
        Files.setLastModifiedTime(cookies, FileTime.from(Instant.now().minus(AGE)));
        cookieKey = Files.readString(cookies).strip();
        console =
                new ConsoleStartup(
                                new SettingsReader(settings, directory).console(),
                                CredentialTypes.byName(),
                                InstantSource.system())
                        .run();
        client = HttpClient.newBuilder().sslContext(authority.client()).build();
    }

    @AfterAll
    static void close() {
        client.close();
        console.close();
        issuer.close();
        database.close();
    }

    private static HttpResponse<String> ask(String method, String path) {
        URI address =
                URI.create(
                        "https://localhost:%d%s"
                                .formatted(console.adminPort().orElseThrow(), path));
        HttpRequest request =
                HttpRequest.newBuilder(address)
                        .header("Accept", "text/plain;version=0.0.4")
                        .method(method, BodyPublishers.noBody())
                        .build();
        try {
            return client.send(request, BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static String metrics() {
        return ask("GET", "/observe/metrics").body();
    }

    /** The value of the only sample with this name and this label. */
    private static double value(String name, String label) {
        List<String> found =
                metrics()
                        .lines()
                        .filter(line -> line.startsWith(name + "{") && line.contains(label))
                        .toList();
        assertEquals(1, found.size(), found::toString);
        String line = found.getFirst();
        return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
    }

    private static double requests(String outcome) {
        return value("mintmark_console_requests_total", "outcome=\"" + outcome + "\"");
    }

    private static double logins(String outcome) {
        return value("mintmark_console_logins_total", "outcome=\"" + outcome + "\"");
    }

    @Test
    void what_must_be_replaced_some_day_shows_its_age_or_its_end() {
        double age = value("mintmark_key_age_seconds", "file=\"CONSOLE_COOKIE_KEY_FILE\"");
        assertEquals((double) AGE.toSeconds(), age, (double) Duration.ofHours(1).toSeconds());
        double end =
                value("mintmark_not_after_seconds", "file=\"CONSOLE_ADMIN_TLS_CERTIFICATE_FILE\"");
        assertTrue(Instant.ofEpochSecond((long) end).isAfter(Instant.now()));
        assertEquals(1, value("mintmark_build_info", "signatures=\"JDK\""));
    }

    @Test
    void requests_and_logins_are_counted_by_their_outcome_and_name_nobody() {
        double refused = requests("refused");
        double redirected = requests("redirected");
        double succeeded = requests("succeeded");
        double failedLogins = logins("failed");
        double logins = logins("succeeded");
        try (CookieJar stranger = new CookieJar();
                CookieJar browser = new CookieJar()) {
            assertEquals(401, stranger.get(pages + "/oidc/redirect?code=c&state=s").statusCode());
            Eventually.holds(() -> requests("refused") == refused + 1);
            assertEquals(failedLogins + 1, logins("failed"));
            assertEquals(logins, logins("succeeded"));

            String page =
                    browser.open(CookieJar.location(browser.get(pages + "/")) + "&as=audrey")
                            .body();
            assertShows(page, "<h1>");
            Eventually.holds(() -> requests("succeeded") == succeeded + 1);
            assertEquals(logins + 1, logins("succeeded"));
            assertEquals(failedLogins + 1, logins("failed"));
            assertTrue(requests("redirected") > redirected);

            String shown = metrics();
            for (String hidden :
                    List.of("audrey", "named-nowhere", RunningConsole.SECRET, cookieKey)) {
                assertLacks(shown, hidden);
            }
        }
    }

    @Test
    void a_console_whose_login_was_revoked_is_unready_and_alive() {
        assertEquals(200, ask("GET", "/observe/health/ready").statusCode());
        assertEquals(1, value("mintmark_console_healthy", "check=\"database\""));
        database.runAsSuperuser(
                "REVOKE USAGE ON SCHEMA internal FROM " + TestDatabase.Who.CONSOLE.role());
        try {
            Eventually.holds(() -> ask("GET", "/observe/health/ready").statusCode() == 503);
            assertShows(ask("GET", "/observe/health/ready").body(), "the database doesn't answer");
            assertEquals(0, value("mintmark_console_healthy", "check=\"database\""));
            assertEquals(200, ask("GET", "/observe/health/live").statusCode());
        } finally {
            database.runAsSuperuser(
                    "GRANT USAGE ON SCHEMA internal TO " + TestDatabase.Who.CONSOLE.role());
        }
        Eventually.holds(() -> ask("GET", "/observe/health/ready").statusCode() == 200);
    }

    /** The filter that asks the database for the viewer's access comes before every page. */
    @Test
    void a_page_that_fails_before_its_route_is_counted_and_logged_as_a_failure() {
        String privilege = "SCHEMA internal %s " + TestDatabase.Who.CONSOLE.role();
        try (CookieJar browser = new CookieJar();
                LogBook log = LogBook.open()) {
            browser.open(CookieJar.location(browser.get(pages + "/")) + "&as=audrey");
            double failed = requests("failed");
            database.runAsSuperuser("REVOKE USAGE ON " + privilege.formatted("FROM"));
            try {
                assertEquals(500, browser.get(pages + "/tenants").statusCode());
            } finally {
                database.runAsSuperuser("GRANT USAGE ON " + privilege.formatted("TO"));
            }
            Eventually.holds(() -> requests("failed") == failed + 1);
            Eventually.holds(() -> log.linesWith("GET none -> 500").size() == 1);
        }
    }

    @Test
    void the_port_has_its_own_paths_and_none_of_the_pages() {
        assertEquals(200, ask("HEAD", "/observe/metrics").statusCode());
        for (String path : List.of("/", "/health", "/observe/nothing", "/style/console.css")) {
            HttpResponse<String> answer = ask("GET", path);
            assertEquals(404, answer.statusCode(), path);
            assertShows(answer.body(), "/observe/metrics");
        }
        try (CookieJar browser = new CookieJar()) {
            assertLacks(browser.get(pages + "/observe/metrics").body(), "mintmark_");
        }
    }
}
