package io.mintmark.console;

import static io.mintmark.console.CookieJar.location;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.console.SignInStandIn.Person;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Each cookie is good for what its name says, and for nothing else. */
class ConsoleCookiesTest {
    private static final String SESSION = "mintmark-session";
    private static final String LOGIN = "mintmark-login";

    private static TestDatabase database;
    private static IssuerStandIn issuer;
    private static SignInStandIn people;
    private static RunningConsole console;

    private CookieJar browser;

    @BeforeAll
    static void setUp() {
        database = TestDatabase.migrated();
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('acme');
                INSERT INTO broker.console_access (tenant, claim, value)
                VALUES ('acme', 'sub', '"audrey"')
                """);
        issuer = IssuerStandIn.start();
        int port = RunningBroker.freePort();
        people =
                new SignInStandIn(
                        issuer,
                        RunningConsole.CLIENT,
                        RunningConsole.SECRET,
                        "http://localhost:" + port,
                        List.of(new Person("audrey", Map.of())));
        console =
                RunningConsole.start(
                        database,
                        issuer.url(),
                        _ ->
                                RunningConsole.pages(
                                        Set.of("/"), (_, response) -> response.send("a page")),
                        port,
                        Map.of());
    }

    @AfterAll
    static void close() {
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
    }

    /** Logs in step by step, and collects every cookie that the console sets on the way. */
    private Map<String, String> everyCookie() {
        Map<String, String> seen = new LinkedHashMap<>();
        HttpResponse<String> step = browser.get(console.url() + "/");
        seen.putAll(browser.cookies());
        step = browser.get(location(step) + "&as=audrey");
        step = browser.get(location(step));
        seen.putAll(browser.cookies());
        browser.get(step.uri().resolve(location(step)).toString());
        seen.putAll(browser.cookies());
        assertEquals("a page", browser.get(console.url() + "/").body());
        seen.keySet().removeIf(name -> !name.startsWith("mintmark-"));
        return seen;
    }

    private HttpResponse<String> asked(String path, String name, String value) {
        browser.cookies().clear();
        browser.cookies().put(name, value);
        return browser.get(console.url() + path);
    }

    @Test
    void no_cookie_is_taken_for_another() {
        Map<String, String> cookies = everyCookie();
        assertEquals(Set.of(SESSION, LOGIN), cookies.keySet(), "the library's tokens go nowhere");

        List<String> names =
                List.of(SESSION, LOGIN, "mintmark-token", "mintmark-access", "mintmark-refresh");
        for (String name : names) {
            cookies.forEach((of, value) -> {
                if (!name.equals(of)) {
                    refusesAs(name, value, "the cookie %s as %s".formatted(of, name));
                }
            });
        }
    }

    private void refusesAs(String name, String value, String which) {
        assertEquals(303, asked("/", name, value).statusCode(), which);
        assertEquals(401, asked("/oidc/done", name, value).statusCode(), which);
        assertEquals(401, asked("/oidc/redirect?code=c&state=s", name, value).statusCode(), which);
        String end = location(asked("/logout", name, value));
        assertTrue(end.startsWith(issuer.url() + "/end-session?client_id="), end);
        assertFalse(end.contains("id_token_hint"), which + " is decrypted: " + end);
    }

    @Test
    void a_change_of_keys_logs_nobody_out() throws Exception {
        String one = newKey();
        String two = newKey();
        TokenOfCookie first = new TokenOfCookie(one);
        TokenOfCookie announced = new TokenOfCookie(one, two);
        TokenOfCookie swapped = new TokenOfCookie(two, one);
        TokenOfCookie last = new TokenOfCookie(two);

        assertTrue(announced.reads(first) && swapped.reads(first) && swapped.reads(announced));
        assertTrue(announced.reads(swapped) && last.reads(swapped));
        assertFalse(last.reads(first));
        assertFalse(first.reads(swapped));
    }

    private static String newKey() {
        byte[] bytes = new byte[32];
        new SecureRandom().nextBytes(bytes);
        return Base64.getEncoder().encodeToString(bytes);
    }

    /** A console with these keys, as far as it makes and reads sessions. */
    private static final class TokenOfCookie {
        private final SessionCookie cookie;

        TokenOfCookie(String... keys) throws IOException {
            Path file = Files.createTempFile(Path.of("target"), "cookie", ".key");
            Files.writeString(file, String.join("\n", keys) + "\n");
            this.cookie = new SessionCookie("test-", false, CookieKey.read(file));
        }

        boolean reads(TokenOfCookie other) {
            return cookie.open(other.cookie.of("a token").value()).equals(Optional.of("a token"));
        }
    }

    @Test
    void logout_names_the_session_to_the_identity_provider_though_it_has_expired() {
        people.lifetime(Duration.ofSeconds(12));
        String session = everyCookie().getOrDefault(SESSION, "none");
        Eventually.holds(() -> asked("/", SESSION, session).statusCode() == 303);

        String end = location(asked("/logout", SESSION, session));

        assertTrue(end.contains("&id_token_hint=eyJ"), end);
    }
}
