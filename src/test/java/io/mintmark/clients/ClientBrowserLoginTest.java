package io.mintmark.clients;

import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.clients.StandIn.Asked;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A person logs in by a browser at what the broker names, and the login is renewed. The stand-in is
 * the broker and the identity provider; the browser is a script that follows the page's redirect.
 */
@Tag("shells")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#tested")
class ClientBrowserLoginTest {
    private static final String FIRST = token("first");
    private static final String SECOND = token("second");

    @TempDir Path directory;
    @AutoClose private final StandIn server = new StandIn();
    private final Shell shell;

    ClientBrowserLoginTest(Shell shell) {
        this.shell = shell;
        String url = server.url();
        server.says(
                        "/.well-known/oauth-protected-resource",
                        200,
                        """
                        {"resource": "%1$s", "logins": [
                          {"identity_provider": "people", "issuer": "%1$s", "client_id": "mint mark"}]}
                        """
                                .formatted(url))
                .says(
                        "/.well-known/openid-configuration",
                        200,
                        """
                        {"issuer": "%1$s", "authorization_endpoint": "%1$s/authorize?realm=a",
                         "token_endpoint": "%1$s/token", "device_authorization_endpoint": "%1$s/device",
                         "scopes_supported": ["openid", "offline_access"]}
                        """
                                .formatted(url))
                .mints("deploy", "{\"ACCESS_TOKEN\": \"b\"}");
    }

    private static String token(String id) {
        long now = Instant.now().getEpochSecond();
        return ClientProcess.token(
                Map.of("iss", "i", "sub", "person", "jti", id, "iat", now, "exp", now + 600));
    }

    private static String answer(String token, String refresh) {
        return "{\"id_token\": \"%s\", \"refresh_token\": \"%s\"}".formatted(token, refresh);
    }

    /** A client with nothing in its environment but a home and a browser. */
    private ClientProcess client(String... visits) {
        String calls =
                Arrays.stream(visits)
                        .map(
                                "curl -s \"http://127.0.0.1:$port/callback?%s\" >/dev/null\n"
                                        ::formatted)
                        .collect(Collectors.joining());
        return ClientProcess.under(shell)
                .with("HOME", directory.toString())
                .with("BROWSER", program("browser", BROWSER + calls).toString());
    }

    private static final String BROWSER =
            """
            printf '%s' "$1" >"$HOME/page"
            port=$(printf '%s' "$1" | sed 's/.*127[.]0[.]0[.]1%3A\\([0-9]*\\)%2F.*/\\1/')
            state=$(printf '%s' "$1" | sed 's/.*[&]state=\\([^&]*\\).*/\\1/')
            echo "what a browser prints"
            """;

    private Path program(String name, String script) {
        try {
            Path file = Files.writeString(directory.resolve(name), "#!/bin/sh\n" + script);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path kept(String name) {
        return directory.resolve(".local/state/mintmark").resolve(name);
    }

    private List<Asked> tokenRequests() {
        return server.asked().stream().filter(asked -> asked.target().equals("/token")).toList();
    }

    private static Map<String, String> form(String body) {
        return Arrays.stream(body.split("&"))
                .map(part -> part.split("=", 2))
                .collect(Collectors.toMap(part -> part[0], part -> part[1]));
    }

    private ClientProcess loggedIn() {
        server.says("/token", 200, answer(FIRST, "refresh/1"));
        ClientProcess client = client("code=the%20code&state=$state");
        Ended login = client.run("login", server.url() + "/");
        assertEquals(0, login.exit(), login.err());
        return client;
    }

    private void expire() throws IOException {
        Path login = kept("login");
        Files.writeString(login, Files.readString(login).replaceAll("(\"until\": \")\\d+", "$11"));
    }

    @Test
    void a_laptop_needs_two_commands_and_no_variable() throws Exception {
        Ended minted = loggedIn().run("get", "deploy");
        assertEquals(0, minted.exit(), minted.err());
        assertEquals(
                Optional.of("Bearer " + FIRST), server.asked().getLast().header("Authorization"));
        String opened = Files.readString(directory.resolve("page"));
        Map<String, String> page = form(opened.substring(opened.indexOf('?') + 1));
        assertEquals("mint+mark", page.get("client_id"));
        assertEquals("openid+offline_access", page.get("scope"));
        assertEquals("S256", page.get("code_challenge_method"));
        Map<String, String> form = form(tokenRequests().getFirst().body());
        assertEquals("authorization_code", form.get("grant_type"));
        assertEquals("mint%20mark", form.get("client_id"));
        assertEquals("the%20code", form.get("code"));
        assertEquals(page.get("redirect_uri"), form.get("redirect_uri"));
        String verifier = Objects.requireNonNull(form.get("code_verifier"));
        byte[] hash =
                MessageDigest.getInstance("SHA-256")
                        .digest(verifier.getBytes(StandardCharsets.US_ASCII));
        assertEquals(
                Base64.getUrlEncoder().withoutPadding().encodeToString(hash),
                page.get("code_challenge"));
        for (String file : List.of("token", "refresh", "login")) {
            assertEquals(
                    "rw-------",
                    PosixFilePermissions.toString(Files.getPosixFilePermissions(kept(file))));
        }
    }

    @Test
    void a_login_is_renewed_silently_and_its_refresh_token_replaced() throws IOException {
        server.says("/token", 200, answer(FIRST, "refresh/1"))
                .says("/token", 200, answer(SECOND, "refresh/2"));
        ClientProcess client = client("code=c&state=$state");
        assertEquals(0, client.run("login", server.url()).exit());
        expire();
        Ended minted = client.run("get", "deploy");
        assertEquals(0, minted.exit(), minted.err());
        assertEquals("", minted.err());
        Asked renewal = tokenRequests().getLast();
        assertEquals(
                "grant_type=refresh_token&client_id=mint%20mark&refresh_token=refresh%2F1",
                renewal.body());
        assertEquals(Optional.empty(), renewal.header("Authorization"));
        assertEquals("refresh/2\n", Files.readString(kept("refresh")));
        assertEquals(
                Optional.of("Bearer " + SECOND), server.asked().getLast().header("Authorization"));
        assertEquals(0, client.run("get", "deploy").exit());
        assertEquals(2, tokenRequests().size());
    }

    @Test
    void eight_commands_renew_a_login_once() throws IOException {
        ClientProcess client = loggedIn();
        expire();
        List<Process> eight =
                IntStream.range(0, 8).mapToObj(_ -> client.start("get", "deploy")).toList();
        for (Process process : eight) {
            Ended ended = ClientProcess.await(process);
            assertEquals(0, ended.exit(), ended.err());
        }
        assertEquals(2, tokenRequests().size());
    }

    @Test
    void a_login_that_ended_says_so_and_one_that_cannot_be_renewed_now_too() throws IOException {
        server.says("/token", 200, answer(FIRST, "refresh/1"))
                .says("/token", 503, "")
                .says("/token", 400, "{\"error\": \"invalid_grant\"}");
        ClientProcess client = client("code=c&state=$state");
        assertEquals(0, client.run("login", server.url()).exit());
        expire();
        Ended later = client.run("get", "deploy", "--once");
        assertEquals(75, later.exit(), later.err());
        assertShows(later.err(), "cannot renew the login now");
        Ended over = client.run("get", "deploy");
        assertEquals(1, over.exit());
        assertShows(over.err(), "the login has ended; run 'mintmark-client login' again");
    }

    @Test
    void a_foreign_visit_changes_nothing() {
        server.says("/token", 200, answer(FIRST, "r"));
        ClientProcess client = client("code=foreign&state=x", "code=own&state=$state");
        Ended login = client.run("login", server.url());
        assertEquals(0, login.exit(), login.err());
        assertEquals("own", form(tokenRequests().getFirst().body()).get("code"));
    }

    @Test
    void an_answer_of_another_issuer_or_an_error_is_no_login() {
        Ended foreign =
                client("code=c&state=$state&iss=https://evil.example").run("login", server.url());
        assertEquals(1, foreign.exit());
        assertShows(foreign.err(), "the response that the browser brought is not from");
        Ended denied = client("error=access_denied&state=$state").run("login", server.url());
        assertEquals(1, denied.exit());
        assertShows(denied.err(), "the identity provider refused: access_denied");
        assertEquals(0, tokenRequests().size());
        assertFalse(Files.exists(kept("token")));
    }

    @Test
    void a_login_is_repeated_without_offline_access_where_that_is_refused() throws IOException {
        server.says("/token", 200, answer(FIRST, "refresh/1"));
        String visit =
                "$(grep -q offline \"$HOME/page\" && echo error=invalid_scope || echo code=c)";
        Ended login = client(visit + "&state=$state").run("login", server.url());
        assertEquals(0, login.exit(), login.err());
        assertShows(login.err(), "does not allow offline_access; this login ends with your");
        assertEquals("openid", form(Files.readString(directory.resolve("page"))).get("scope"));
        assertEquals(1, tokenRequests().size());
    }

    @Test
    void profiles_are_kept_apart_and_a_token_goes_only_to_the_broker_of_its_login() {
        ClientProcess client = loggedIn();
        assertEquals(2, client.run("keys", "--profile", "work").exit());
        Ended work = client.run("--profile", "work", "login", server.url());
        assertEquals(0, work.exit(), work.err());
        assertEquals(0, client.run("get", "deploy", "--profile=work").exit());
        assertEquals(0, client.with("MINTMARK_PROFILE", "work").run("logout").exit());
        assertEquals(0, client.without("MINTMARK_PROFILE").run("get", "deploy").exit());
        assertEquals(2, client.run("get", "deploy", "--profile", "../x").exit());
        Ended elsewhere = client.with("MINTMARK_URL", "http://localhost:1").run("get", "deploy");
        assertEquals(2, elsewhere.exit());
        assertShows(elsewhere.err(), "and the login is for " + server.url());
    }

    @Test
    void the_refresh_token_is_in_the_keyring_where_there_is_one() throws IOException {
        program(
                "secret-tool",
                """
                case $1 in
                    store) cat >"$HOME/keyring" ;;
                    lookup) cat "$HOME/keyring" ;;
                    clear) rm "$HOME/keyring" ;;
                esac
                """);
        server.says("/token", 200, answer(FIRST, "refresh/1"));
        ClientProcess client =
                client("code=c&state=$state")
                        .with("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
                        .with("PATH", directory + ":" + Shell.SEARCH_PATH);
        assertEquals(0, client.run("login", server.url()).exit());
        assertFalse(Files.exists(kept("refresh")));
        expire();
        assertEquals(0, client.run("get", "deploy").exit());
        assertShows(tokenRequests().getLast().body(), "refresh_token=refresh%2F1");
        assertEquals(0, client.run("logout").exit());
        assertFalse(Files.exists(directory.resolve("keyring")));
    }

    @Test
    void one_of_several_identity_providers_is_chosen_by_name() {
        try (StandIn broker = new StandIn()) {
            String login =
                    "{\"identity_provider\": \"%s\", \"issuer\": \"%s\", \"client_id\": \"c\"}";
            broker.says(
                    "/tenants/acme/.well-known/oauth-protected-resource",
                    200,
                    "{\"resource\": \"%s/tenants/acme\", \"logins\": [%s, %s]}"
                            .formatted(
                                    broker.url(),
                                    login.formatted("staff", server.url()),
                                    login.formatted("guests", "http://localhost:1")));
            broker.mints("deploy", "{\"ACCESS_TOKEN\": \"b\"}");
            server.says("/token", 200, answer(FIRST, "r"));
            String tenant = broker.url() + "/tenants/acme";
            ClientProcess client = client("code=c&state=$state");
            Ended open = client.run("login", tenant);
            assertEquals(2, open.exit());
            assertShows(open.err(), "choose one with --idp NAME: staff, guests");
            Ended chosen = client.run("login", tenant, "--idp", "staff");
            assertEquals(0, chosen.exit(), chosen.err());
            assertEquals(0, client.run("get", "deploy").exit());
        }
    }

    @Test
    void a_broker_with_another_address_is_not_logged_in_to() {
        String alias = server.url().replace("127.0.0.1", "localhost");
        Ended ended = client().run("login", alias);
        assertEquals(1, ended.exit());
        assertShows(ended.err(), "the broker calls itself " + server.url());
    }

    @Test
    void without_a_browser_a_person_enters_a_code() {
        server.says(
                        "/device",
                        200,
                        """
                        {"device_code": "d", "user_code": "ABCD", "interval": 1, "expires_in": 60,
                         "verification_uri": "https://idp.example.com/device"}
                        """)
                .says("/token", 200, answer(FIRST, "r"));
        Ended ended = client().run("login", "--device", server.url());
        assertEquals(0, ended.exit(), ended.err());
        assertShows(ended.err(), "enter the code ABCD");
        assertFalse(Files.exists(directory.resolve("page")));
    }
}
