package io.mintmark.console;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;
import static io.mintmark.console.CookieJar.location;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.util.stream.Collectors.joining;

import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.broker.token.LogBook;
import io.mintmark.console.SignInStandIn.Person;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Logging in and out, and what others may try with that; over HTTP, with cookies. */
class ConsoleLoginTest {
    private static final String SESSION = "mintmark-session";
    private static final String LOGIN = "mintmark-login";

    private static TestDatabase database;
    private static IssuerStandIn issuer;
    private static SignInStandIn people;
    private static RunningConsole console;

    /** Logged in once, for tests that don't change that. */
    private static CookieJar audrey;

    private CookieJar browser;

    @BeforeAll
    static void setUp() {
        database = TestDatabase.migrated();
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('acme'), ('other');
                INSERT INTO broker.console_access (tenant, all_tenants, claim, value)
                VALUES ('acme', false, 'groups', '"acme-leads"'), (NULL, true, 'sub', '"audrey"')
                """);
        issuer = IssuerStandIn.start();
        int port = RunningBroker.freePort();
        people =
                new SignInStandIn(
                        issuer,
                        RunningConsole.CLIENT,
                        RunningConsole.SECRET,
                        "http://localhost:" + port,
                        List.of(
                                new Person("audrey", Map.of()),
                                new Person(
                                        "lea",
                                        Map.of(
                                                "groups",
                                                List.of("acme-leads"),
                                                "email",
                                                "lea@acme.example.com",
                                                "email_verified",
                                                true)),
                                new Person("sam", Map.of("groups", List.of("<b>strangers</b>")))));
        console =
                RunningConsole.start(
                        database, issuer.url(), ConsoleLoginTest::pages, port, Map.of());
        audrey = new CookieJar();
        logIn(audrey, "audrey", "/");
    }

    /** One page: the tenants that its viewer sees, and the address that it was asked by. */
    private static PageRoutes pages(ViewerDatabase database) {
        return RunningConsole.pages(
                Set.of("/", "/mints", "/reviews/download"),
                (request, response) -> {
                    if (request.query().contains("slow")) {
                        throw new ReadingFailed(ReadingFailed.Why.TOO_SLOW, "this page is slow");
                    }
                    if (request.query().contains("fail")) {
                        throw new IllegalStateException("this page fails");
                    }
                    show(database, request, response);
                });
    }

    private static void show(
            ViewerDatabase database, ServerRequest request, ServerResponse response) {
        Viewer viewer = request.context().get(Viewer.class).orElseThrow();
        String tenants =
                database.read(
                        viewer,
                        connection -> {
                            try (Statement statement = connection.createStatement();
                                    ResultSet row =
                                            statement.executeQuery(
                                                    "SELECT string_agg(name, ' ' ORDER BY name)"
                                                            + " FROM broker.tenant")) {
                                row.next();
                                return row.getString(1);
                            }
                        });
        response.status(Status.OK_200)
                .send(
                        "%s sees %s at %s?%s"
                                .formatted(
                                        viewer.name(),
                                        tenants,
                                        request.path().path(),
                                        request.query().rawValue()));
    }

    /** Reverse proxies take a few KiB: nginx 4 KiB by default, with the status line. */
    @Test
    void four_kibibytes_of_headers_are_enough_for_somebody_in_a_hundred_groups() {
        List<String> groups =
                IntStream.range(0, 100)
                        .mapToObj(i -> "%s-%03d".formatted(UUID.randomUUID(), i))
                        .toList();
        people.further(Map.of("groups", groups));
        try {
            HttpResponse<String> page = logIn(browser, "audrey", "/mints?key=api");
            assertEquals(200, page.statusCode());
            assertShows(page.body(), "audrey sees acme other at /mints?key=api");
            assertEquals(200, browser.get(console.url() + "/mints").statusCode());
            HttpResponse<String> out = browser.get(console.url() + "/logout");
            assertEquals(303, out.statusCode());
            assertEquals(200, browser.open(location(out)).statusCode());
            assertNotEquals(200, browser.get(console.url() + "/mints").statusCode());
            assertTrue(browser.longestHeaders() < 4_000, browser.longestHeaders() + " bytes");
        } finally {
            people.further(Map.of());
        }
    }

    @AfterAll
    static void close() {
        audrey.close();
        console.close();
        issuer.close();
        database.close();
    }

    @BeforeEach
    void open() {
        browser = new CookieJar();
    }

    @AfterEach
    void restore() {
        browser.close();
        people.lifetime(Duration.ofMinutes(5));
        people.further(Map.of());
    }

    private HttpResponse<String> logIn(String person, String path) {
        return logIn(browser, person, path);
    }

    /** Asks for a page, and clicks on a name where the identity provider asks. */
    private static HttpResponse<String> logIn(CookieJar browser, String person, String path) {
        return browser.open(location(browser.get(console.url() + path)) + "&as=" + person);
    }

    private HttpResponse<String> page(String path, String... headers) {
        return browser.get(console.url() + path, headers);
    }

    private static HttpResponse<String> audreys(String path, String... headers) {
        return audrey.get(console.url() + path, headers);
    }

    // ------------------------------------------------------------------ in

    @Test
    void whoever_logs_in_comes_back_to_the_page_that_was_asked_for() {
        HttpResponse<String> page = logIn("lea", "/mints?q=a%26b&x=%2F");

        assertEquals(200, page.statusCode(), page.body());
        assertEquals("lea@acme.example.com sees acme at /mints?q=a%26b&x=%2F", page.body());
        assertEquals(console.url() + "/mints?q=a%26b&x=%2F", page.uri().toString());
    }

    @Test
    void a_session_goes_on_without_the_identity_provider() {
        int asked = issuer.fetches();

        assertEquals(
                "audrey sees acme other at /proof?", audrey.get(console.url() + "/proof").body());
        assertEquals(asked, issuer.fetches());
    }

    @Test
    void the_session_is_the_only_cookie_that_a_login_leaves() {
        logIn("audrey", "/");

        assertEquals(
                List.of(SESSION),
                browser.cookies().keySet().stream().filter(c -> c.startsWith("mintmark")).toList());
        assertFalse(browser.cookie(SESSION).contains("eyJ"), "the session isn't encrypted");
    }

    @Test
    void whoever_may_see_nothing_is_told_which_claims_could_be_matched() {
        HttpResponse<String> page = logIn("sam", "/tenants/acme");

        assertEquals(403, page.statusCode());
        assertShows(
                page.body(),
                "&lt;b&gt;strangers&lt;/b&gt;",
                "INSERT INTO broker.console_access (tenant, claim, value",
                "&#39;&quot;sam&quot;&#39;");
        assertLacks(page.body(), "nonce");
    }

    @Test
    void an_access_token_that_is_no_jwt_is_no_hindrance() {
        // those of the stand-in are opaque
        assertEquals(200, logIn("audrey", "/").statusCode());
    }

    @Test
    void keys_that_the_identity_provider_changes_are_taken_over() {
        logIn("audrey", "/");
        issuer.rotate();

        audrey.cookies().clear();
        assertEquals(200, logIn(audrey, "audrey", "/").statusCode());

        assertEquals(303, page("/").statusCode(), "the old key signs nothing any more");
        assertEquals(200, logIn("audrey", "/").statusCode());
    }

    @Test
    void too_many_pages_are_refused_with_a_way_on_and_files_of_pages_do_not_count() {
        try (RunningConsole limited =
                RunningConsole.start(
                        database,
                        issuer.url(),
                        ConsoleLoginTest::pages,
                        Map.of("RATE_LIMIT_ENABLED", "true", "RATE_LIMIT_REQUESTS", "2"))) {
            for (int i = 0; i < 5; i++) {
                int status = browser.get(limited.url() + "/style/console.css").statusCode();
                assertNotEquals(429, status);
            }
            assertEquals(303, browser.get(limited.url() + "/").statusCode());
            assertEquals(303, browser.get(limited.url() + "/").statusCode());

            HttpResponse<String> refused = browser.get(limited.url() + "/");

            assertEquals(429, refused.statusCode());
            assertTrue(
                    Pattern.compile("Try again in [0-9]+ seconds, from [0-9:]{8} UTC on\\.")
                            .matcher(refused.body())
                            .find(),
                    refused.body());
            assertShows(refused.body(), "<a href=\"/mints\">Mints</a>");
            assertNotEquals(429, browser.get(limited.url() + "/style/pico.css").statusCode());
        }
    }

    // ------------------------------------------------------------------ cookies

    @Test
    void cookies_of_a_secure_console_are_bound_to_its_host() {
        try (RunningConsole secure =
                RunningConsole.start(
                        database,
                        issuer.url(),
                        ConsoleLoginTest::pages,
                        Map.of("CONSOLE_URL", "https://console.example.com"))) {
            HttpResponse<String> answer = browser.get(secure.url() + "/");

            String cookie = answer.headers().firstValue("Set-Cookie").orElseThrow();
            assertTrue(cookie.startsWith("__Host-mintmark-login="), cookie);
            assertShows(cookie, "Secure", "HttpOnly", "SameSite=Lax", "Path=/");
            assertLacks(cookie, "Domain");
            assertShows(
                    location(answer),
                    "redirect_uri=https%3A%2F%2Fconsole.example.com%2Foidc%2Fredirect");
            assertTrue(answer.headers().firstValue("Strict-Transport-Security").isPresent());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "garbage",
                "%00",
                "AAAA",
                "\"",
                "eyJhbGciOiJub25lIn0.e30.",
                "=",
                "////",
                "AAAAAAAAAAAAAAAAAAAAAP////8AAAAAAAAAAAAAAAAAAAAAAAAA"
            })
    void a_garbage_cookie_is_as_good_as_none(String garbage) {
        for (String cookie : List.of(SESSION, LOGIN)) {
            browser.cookies().clear();
            browser.cookies().put(cookie, garbage);

            assertEquals(303, page("/").statusCode(), cookie);
            browser.cookies().put(cookie, garbage);
            assertEquals(401, page("/oidc/redirect?code=c&state=s").statusCode(), cookie);
            browser.cookies().put(cookie, garbage);
            assertEquals(401, page("/oidc/done?to=/").statusCode(), cookie);
            browser.cookies().put(cookie, garbage);
            assertEquals(303, page("/logout").statusCode(), cookie);
        }
    }

    @Test
    void a_cookie_that_was_cut_or_changed_is_as_good_as_none() {
        logIn("audrey", "/");
        String session = browser.cookie(SESSION);
        char last = session.charAt(session.length() - 5);

        for (String changed :
                List.of(
                        session.substring(0, session.length() - 8),
                        session.substring(0, session.length() - 5)
                                + (last == 'A' ? 'B' : 'A')
                                + session.substring(session.length() - 4))) {
            browser.cookies().put(SESSION, changed);
            assertEquals(303, page("/").statusCode());
        }
    }

    @Test
    void one_cookie_is_not_taken_for_another() {
        String authorize = location(page("/"));
        String state = browser.cookie(LOGIN);

        browser.cookies().put(SESSION, state);
        assertEquals(303, page("/").statusCode());

        browser.cookies().clear();
        browser.open(authorize);
        logIn("audrey", "/");
        browser.cookies().put(LOGIN, browser.cookie(SESSION));
        assertEquals(401, page("/oidc/redirect?code=c&state=s").statusCode());
    }

    @Test
    void a_token_that_somebody_brings_along_is_not_looked_at() {
        String token = people.idToken("audrey", "n");

        assertEquals(303, page("/", "Authorization", "Bearer " + token).statusCode());
        assertEquals(303, page("/?accessToken=" + token + "&id_token=" + token).statusCode());
        browser.cookies().put(SESSION, token);
        assertEquals(303, page("/").statusCode());
    }

    @Test
    void a_token_for_another_client_is_nobodys() {
        people.further(Map.of("azp", "another-client"));

        HttpResponse<String> end = logIn("audrey", "/");

        assertEquals(401, end.statusCode(), end.body());
        assertEquals(303, page("/").statusCode());
    }

    @Test
    void a_token_with_another_nonce_makes_no_session() {
        people.further(Map.of("nonce", "another"));

        assertEquals(401, logIn("audrey", "/").statusCode());
        assertEquals(303, page("/").statusCode());
    }

    @Test
    void somebody_whose_browser_kept_no_session_is_told_the_possible_causes() {
        String authorize = location(page("/"));
        HttpResponse<String> back = browser.get(location(browser.get(authorize + "&as=audrey")));
        browser.cookies().remove(SESSION); // as behind a proxy that drops large headers

        HttpResponse<String> end = page(location(back));

        assertEquals(401, end.statusCode());
        assertShows(end.body(), "4 KiB", "proxy_buffer_size");
    }

    @Test
    void an_id_token_that_is_not_accepted_is_named_in_the_log() {
        people.further(Map.of("cnf", Map.of("jkt", "thumbprint")));

        try (LogBook log = LogBook.open()) {
            HttpResponse<String> end = logIn("audrey", "/");

            assertEquals(401, end.statusCode());
            assertShows(end.body(), "an ID token that the console does not accept");
            assertTrue(log.text().contains("wrong_token_type"), log.text());
        }
    }

    // ------------------------------------------------------------------ where a browser is sent

    @Test
    void the_header_that_steers_the_library_is_not_looked_at() {
        String authorize =
                location(page("/mints", "X_ORIG_URI_HEADER", "https://evil.example.com/"));

        HttpResponse<String> page = browser.open(authorize + "&as=audrey");

        assertEquals(console.url() + "/mints", page.uri().toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "//evil.example.com", "///evil.example.com", "/%5C../x//y",
                "//evil.example.com/..", "/a/../b", "/./",
                "/a;b"
            })
    void an_address_that_could_lead_elsewhere_is_no_page(String path) {
        assertEquals(404, page(path).statusCode());
        assertEquals(404, audrey.get(console.url() + path).statusCode());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https%3A%2F%2Fevil.example.com/", "//evil.example.com",
                "/%5Cevil.example.com", "%2F%2Fevil.example.com",
                "/%09/evil.example.com", "javascript%3Aalert(1)",
                "", "x",
                "/a%0d%0aSet-Cookie%3A%20x=y", "/unknown",
                "/logout", "/%256Cogout",
                "/oidc/redirect?code=c", "/oidc/done",
                "/health", "/style/pico.css"
            })
    void nobody_is_sent_anywhere_but_to_a_page_after_a_login(String to) {
        HttpResponse<String> answer = audrey.get(console.url() + "/oidc/done?to=" + to);

        assertEquals(303, answer.statusCode());
        assertEquals("/", location(answer));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/mints", "/mints/1", "/reviews", "/reviews/download"})
    void a_login_returns_to_any_page_of_the_routes(String to) {
        assertEquals(to, location(audrey.get(console.url() + "/oidc/done?to=" + to)));
    }

    @ParameterizedTest
    @CsvSource({"/mints, /mints", "//evil.example, /", "/logout, /"})
    void a_login_replaces_a_session_and_returns_to_a_page(String to, String expected) {
        logIn("audrey", "/");
        String session = browser.cookie(SESSION);

        HttpResponse<String> back = browser.open(console.url() + "/login?to=" + to);

        assertEquals(console.url() + expected, back.uri().toString());
        assertNotEquals(session, browser.cookie(SESSION));
    }

    @Test
    void a_login_goes_to_the_configured_address_whatever_the_host_header_says() {
        String answer = answerTo("GET / HTTP/1.1\r\nHost: evil.example.com\r\n\r\n");

        assertShows(answer, "redirect_uri=http%3A%2F%2Flocalhost");
        assertLacks(answer, "evil");
    }

    @Test
    void framing_is_as_strict_as_the_brokers() {
        String request =
                """
                POST /logout HTTP/1.1
                Host: localhost
                Transfer-Encoding: chunked

                0

                """;
        String answer = answerTo(request.replace("\n", "\r\n"));

        assertTrue(answer.startsWith("HTTP/1.1 411"), answer);
    }

    /** The head of an answer to what no client would send. */
    private static String answerTo(String request) {
        URI address = URI.create(console.url());
        try (Socket socket = new Socket(address.getHost(), address.getPort())) {
            socket.setSoTimeout((int) Eventually.PATIENCE.toMillis());
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            var reader =
                    new BufferedReader(
                            new InputStreamReader(
                                    socket.getInputStream(), StandardCharsets.US_ASCII));
            return reader.lines().takeWhile(line -> !line.isEmpty()).collect(joining("\n"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // ------------------------------------------------------------------ what comes back

    @Test
    void a_code_and_its_state_work_once() {
        String authorize = location(page("/"));
        String back = location(browser.get(authorize + "&as=audrey"));
        Map<String, String> before = Map.copyOf(browser.cookies());
        assertEquals(307, browser.get(back).statusCode());

        try (CookieJar thief = new CookieJar()) {
            thief.cookies().putAll(before);
            int asked = issuer.fetches();

            HttpResponse<String> again = thief.get(back);

            assertEquals(401, again.statusCode(), again.body());
            assertEquals(asked, issuer.fetches(), "the code isn't even shown");
            assertFalse(thief.cookies().containsKey(SESSION));
        }
    }

    @Test
    void a_login_that_another_browser_began_is_refused() {
        String authorize = location(page("/"));
        String back = location(browser.get(authorize + "&as=sam"));

        try (CookieJar victim = new CookieJar()) {
            assertEquals(401, victim.get(back).statusCode());
            victim.get(console.url() + "/");
            assertEquals(401, victim.get(back).statusCode(), "its own login has another state");
            assertFalse(victim.cookies().containsKey(SESSION));
        }
    }

    @Test
    void a_session_that_was_there_before_is_not_gone_on_with() {
        logIn("sam", "/");
        String fixed = browser.cookie(SESSION);
        browser.get(issuer.url() + "/end-session?client_id=mintmark-console");
        browser.cookies().remove("sign-in");
        browser.cookies().put(SESSION, "planted");

        logIn("audrey", "/");

        String session = browser.cookie(SESSION);
        assertFalse(session.equals(fixed) || session.equals("planted"), session);
        assertTrue(page("/").body().startsWith("audrey"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "code=c",
                "state=s",
                "",
                "code=c&state=s&h_tenant=other",
                "code=c&code=d&state=s",
                "code=c&state=s&state=t",
                "code=c&state=s&iss=https%3A%2F%2Fevil.example.com"
            })
    void what_is_no_answer_to_a_login_is_refused(String query) {
        page("/");

        assertEquals(401, page("/oidc/redirect?" + query).statusCode());
    }

    @Test
    void what_the_identity_provider_says_is_shown_as_text() {
        HttpResponse<String> answer =
                page("/oidc/redirect?error=access_denied&error_description=%3Cscript%3Ealert(1)");

        assertEquals(403, answer.statusCode());
        assertShows(answer.body(), "access_denied: &lt;script&gt;alert(1)");
    }

    @Test
    void a_code_that_the_identity_provider_does_not_know_makes_no_session() {
        page("/");
        String state = location(page("/")).replaceFirst(".*&state=", "");

        HttpResponse<String> answer = page("/oidc/redirect?code=guessed&state=" + state);

        assertEquals(401, answer.statusCode());
        assertFalse(browser.cookies().containsKey(SESSION));
        String page = answer.headers().firstValue("Refresh").orElseThrow();
        assertEquals("0; url=/oidc/failed", page);
        HttpResponse<String> failed = page("/oidc/failed");
        assertEquals(401, failed.statusCode());
        assertShows(failed.body(), "rejected the login&#39;s code");
    }

    // ------------------------------------------------------------------ out

    @Test
    void logout_ends_the_session_here_and_at_the_identity_provider() {
        logIn("audrey", "/");
        String session = browser.cookie(SESSION);

        HttpResponse<String> end = browser.open(console.url() + "/logout");

        assertEquals(console.url() + "/oidc/logged-out", end.uri().toString());
        assertEquals(200, end.statusCode());
        assertTrue(
                browser.visited().stream()
                        .anyMatch(uri ->
                                uri.getPath().equals("/end-session")
                                        && uri.getQuery().contains("id_token_hint=eyJ")));
        assertFalse(browser.cookies().containsKey(SESSION));
        assertTrue(
                browser.open(console.url() + "/").body().contains("Who are you?"),
                "the identity provider lets in without asking");
        browser.cookies().put(SESSION, session);
        assertEquals(303, page("/").statusCode(), "a copy of the cookie still works");
    }

    @Test
    void another_site_logs_nobody_out() {
        HttpResponse<String> answer =
                audreys(
                        "/logout",
                        "Sec-Fetch-Site",
                        "cross-site",
                        "Sec-Fetch-Mode",
                        "navigate",
                        "Sec-Fetch-Dest",
                        "document");

        assertEquals(200, answer.statusCode());
        assertEquals(200, audreys("/").statusCode());
    }

    @Test
    void a_page_that_is_open_while_the_session_ends_leads_to_a_login_and_back() {
        people.lifetime(Duration.ofSeconds(12));
        HttpResponse<String> first = logIn("audrey", "/mints");
        assertEquals(200, first.statusCode());
        Eventually.holds(() -> page("/mints").statusCode() == 303);
        people.lifetime(Duration.ofMinutes(5));

        HttpResponse<String> again = browser.open(console.url() + "/mints?q=x");

        assertEquals("audrey sees acme other at /mints?q=x", again.body());
    }

    @Test
    void a_form_is_not_sent_on_to_the_identity_provider() {
        HttpResponse<String> answer = browser.post(console.url() + "/proof");

        assertEquals(401, answer.statusCode());
        assertShows(answer.body(), "nothing was changed");
    }

    // ------------------------------------------------------------------ other sites

    @Test
    void another_site_presses_no_button() {
        assertEquals(
                403,
                audrey.post(console.url() + "/proof", "Sec-Fetch-Site", "cross-site").statusCode());
        assertEquals(
                403,
                audrey.post(console.url() + "/proof", "Sec-Fetch-Site", "same-site").statusCode());
        assertEquals(
                403,
                audrey.post(console.url() + "/proof", "Origin", "https://evil.example.com")
                        .statusCode());
        assertEquals(
                200,
                audrey.post(console.url() + "/proof", "Sec-Fetch-Site", "same-origin")
                        .statusCode());
        assertEquals(
                200, audrey.post(console.url() + "/proof", "Origin", console.url()).statusCode());
    }

    @Test
    void another_site_may_link_to_a_page_and_not_embed_it() {
        assertEquals(
                200,
                audreys(
                                "/mints",
                                "Sec-Fetch-Site",
                                "cross-site",
                                "Sec-Fetch-Mode",
                                "navigate",
                                "Sec-Fetch-Dest",
                                "document")
                        .statusCode());
        for (String destination : List.of("iframe", "image", "script", "empty", "style")) {
            assertEquals(
                    403,
                    audreys(
                                    "/mints",
                                    "Sec-Fetch-Site",
                                    "cross-site",
                                    "Sec-Fetch-Mode",
                                    "no-cors",
                                    "Sec-Fetch-Dest",
                                    destination)
                            .statusCode(),
                    destination);
        }
    }

    @Test
    void a_link_of_another_site_to_a_file_leads_to_the_page_that_has_it() {
        for (String path : List.of("/mints/download", "/mints/%64ownload")) {
            HttpResponse<String> answer =
                    audreys(
                            path + "?q=a%2Fb",
                            "Sec-Fetch-Site",
                            "cross-site",
                            "Sec-Fetch-Mode",
                            "navigate",
                            "Sec-Fetch-Dest",
                            "document");

            assertEquals(303, answer.statusCode());
            assertEquals("/mints?q=a%2Fb", location(answer));
        }
        assertEquals(200, audreys("/mints/download", "Sec-Fetch-Site", "same-origin").statusCode());
        for (Map.Entry<String, String> file :
                Map.of("/proof/checkpoints", "/proof", "/reviews/download", "/reviews")
                        .entrySet()) {
            assertEquals(
                    file.getValue() + "?before=9",
                    location(
                            audreys(
                                    file.getKey() + "?before=9",
                                    "Sec-Fetch-Site",
                                    "cross-site",
                                    "Sec-Fetch-Mode",
                                    "navigate",
                                    "Sec-Fetch-Dest",
                                    "document")));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    POST /mints          | GET, HEAD
                    DELETE /tenants/acme | GET, HEAD
                    PUT /proof           | GET, HEAD, POST
                    HEAD /logout         | GET, POST
                    HEAD /oidc/done      | GET
                    HEAD /oidc/failed    | GET
                    """)
    void an_address_says_in_which_ways_it_may_be_asked_for(String asked, String allowed) {
        String answer = answerTo(asked + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");

        assertTrue(answer.startsWith("HTTP/1.1 405 "), answer);
        assertTrue(answer.lines().anyMatch(("Allow: " + allowed)::equals), answer);
    }

    @Test
    void a_page_can_be_asked_about_without_its_body() {
        String session = "Cookie: %s=%s".formatted(SESSION, audrey.cookie(SESSION));

        assertTrue(answerTo("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").startsWith("HTTP/1.1 303"));
        assertTrue(answerTo("HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n").startsWith("HTTP/1.1 200"));
        assertTrue(
                answerTo("HEAD /mints HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n".formatted(session))
                        .startsWith("HTTP/1.1 200"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/nowhere", "/?fail", "/oidc/redirect", "//", "/health"})
    void every_answer_forbids_scripts_frames_and_copies(String path) {
        HttpResponse<String> answer = audrey.get(console.url() + path);

        String policy = answer.headers().firstValue("Content-Security-Policy").orElse("");
        assertTrue(policy.startsWith("default-src 'none'"), policy);
        assertShows(policy, "frame-ancestors 'none'");
        assertLacks(policy, "script");
        assertEquals(List.of("no-store"), answer.headers().allValues("Cache-Control"), path);
        assertEquals(List.of("nosniff"), answer.headers().allValues("X-Content-Type-Options"));
        assertEquals(List.of("no-referrer"), answer.headers().allValues("Referrer-Policy"));
        assertTrue(answer.headers().firstValue("X-Request-ID").isPresent());
        assertTrue(answer.headers().firstValue("Access-Control-Allow-Origin").isEmpty());
    }

    @Test
    void a_page_that_fails_tells_the_request_id_and_nothing_else() {
        HttpResponse<String> answer = audrey.get(console.url() + "/?fail", "X-Request-ID", "abc-1");

        assertEquals(500, answer.statusCode());
        assertShows(answer.body(), "abc-1");
        assertLacks(answer.body(), "this page fails");
    }

    @Test
    void a_database_that_does_not_answer_is_told_of_in_one_way_with_when_to_ask_again() {
        HttpResponse<String> answer = audrey.get(console.url() + "/?slow");

        assertEquals(503, answer.statusCode());
        assertShows(answer.body(), "The page took too long.");
        assertEquals("5", answer.headers().firstValue("Retry-After").orElse("none"));
    }

    @Test
    void an_address_may_be_typed_with_colons() {
        HttpResponse<String> answer = audreys("/mints?q=repo:acme/shop:ref");

        assertEquals(200, answer.statusCode());
        assertTrue(answer.body().endsWith("/mints?q=repo:acme/shop:ref"), answer.body());
    }

    @ParameterizedTest
    @ValueSource(strings = {"%3:", "%", "\"", "<x>", "#x", "%3Ax%zz"})
    void an_address_that_cannot_be_read_is_refused_with_what_to_type(String text) {
        String answer = answerTo("GET /mints?q=" + text + " HTTP/1.1\r\nHost: localhost\r\n\r\n");

        assertTrue(answer.startsWith("HTTP/1.1 400"), answer);
    }

    @Test
    void health_needs_no_login() {
        assertEquals(200, page("/health").statusCode());
    }
}
