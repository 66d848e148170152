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
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;

/**
 * The device flow of the shell client, against an identity provider that says what a test wants.
 */
@Tag("shells")
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.mintmark.clients.Shell#tested")
@Execution(ExecutionMode.CONCURRENT)
class ClientLoginTest {
    private static final String DEVICE =
            """
            {"device_code": "device code & more", "user_code": "ABCD-EFGH", "interval": 1, "expires_in": 60,
             "verification_uri": "https://idp.example.com/device",
             "verification_uri_complete": "https://idp.example.com/device?user_code=ABCD-EFGH"}
            """;

    @TempDir Path directory;
    @AutoClose private final StandIn idp = new StandIn();
    private final ClientProcess client;

    ClientLoginTest(Shell shell) {
        this.client =
                ClientProcess.under(shell)
                        .with("MINTMARK_URL", idp.url())
                        .with("MINTMARK_ISSUER", idp.url())
                        .with("MINTMARK_CLIENT_ID", "mint mark");
    }

    private Ended login(String issuer) {
        return ClientProcess.await(beginLogin(idp, issuer));
    }

    private Process beginLogin(StandIn provider, String issuer) {
        return beginLogin(provider, issuer, "");
    }

    /**
     * @param further members of the discovery document
     */
    private Process beginLogin(StandIn provider, String issuer, String further) {
        provider.says(
                "/.well-known/openid-configuration",
                200,
                """
                {"issuer": "%s", "device_authorization_endpoint": "%s/device", "token_endpoint": "%s/token"%s}
                """
                        .formatted(issuer, provider.url(), provider.url(), further));
        return client.with("XDG_STATE_HOME", directory.toString())
                .with("MINTMARK_ISSUER", provider.url())
                .start("login");
    }

    private Path token() {
        return directory.resolve("mintmark").resolve("token");
    }

    @Test
    void a_person_enters_the_code_and_the_token_is_kept_for_nobody_else() throws IOException {
        idp.says("/device", 200, DEVICE)
                .says("/token", 400, "{\"error\": \"authorization_pending\"}")
                .says("/token", 200, "{\"access_token\": \"no\", \"id_token\": \"the.id.token\"}");
        Files.createDirectory(directory.resolve("mintmark"));
        Ended ended = login(idp.url());
        assertEquals(0, ended.exit(), ended.err());
        assertEquals("", ended.out());
        assertShows(
                ended.err(), "open https://idp.example.com/device and enter the code ABCD-EFGH");
        assertEquals("the.id.token\n", Files.readString(token()));
        assertEquals("rw-------", rights(token()));
        assertEquals("rwx------", rights(directory.resolve("mintmark")));
        assertEquals("client_id=mint%20mark&scope=openid", idp.asked().get(1).body());
        assertEquals(
                "client_id=mint%20mark&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code"
                        + "&device_code=device%20code%20%26%20more",
                idp.asked().get(2).body());
    }

    /** As a client of Keycloak that requires PKCE needs it (RFC 7636 section 4). */
    @Test
    void a_provider_that_knows_pkce_gets_a_challenge_and_its_verifier() throws Exception {
        idp.says("/device", 200, DEVICE).says("/token", 200, "{\"id_token\": \"the.id.token\"}");
        String pkce = ", \"code_challenge_methods_supported\": [\"plain\", \"S256\"]";
        Ended ended = ClientProcess.await(beginLogin(idp, idp.url(), pkce));
        assertEquals(0, ended.exit(), ended.err());
        String verifier =
                idp.asked().get(2).body().replaceFirst(".*&code_verifier=([0-9a-f]{64})$", "$1");
        byte[] hash =
                MessageDigest.getInstance("SHA-256")
                        .digest(verifier.getBytes(StandardCharsets.US_ASCII));
        assertEquals(
                "client_id=mint%20mark&scope=openid&code_challenge_method=S256&code_challenge="
                        + Base64.getUrlEncoder().withoutPadding().encodeToString(hash),
                idp.asked().get(1).body());
    }

    @ParameterizedTest
    @CsvSource({"/device, invalid_scope", "/token, not_allowed"})
    void a_login_is_repeated_without_offline_access_where_that_is_refused(
            String path, String error) {
        idp.says(path, 400, "{\"error\": \"%s\"}".formatted(error))
                .says("/device", 200, DEVICE)
                .says("/token", 200, "{\"id_token\": \"the.id.token\"}");
        String scopes = ", \"scopes_supported\": [\"openid\", \"offline_access\"]";
        Ended ended = ClientProcess.await(beginLogin(idp, idp.url(), scopes));
        assertEquals(0, ended.exit(), ended.err());
        assertShows(ended.err(), "does not allow offline_access; this login ends with your");
        assertEquals(
                List.of(
                        "client_id=mint%20mark&scope=openid%20offline_access",
                        "client_id=mint%20mark&scope=openid"),
                idp.asked().stream()
                        .filter(asked -> asked.target().equals("/device"))
                        .map(Asked::body)
                        .toList());
    }

    @Test
    void a_refusal_of_another_scope_ends_the_login() {
        idp.says("/device", 400, "{\"error\": \"invalid_scope\"}");
        assertSays(1, "refused: HTTP 400 invalid_scope", login(idp.url()));
        assertEquals(2, idp.asked().size());
    }

    private static String rights(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    @Test
    void the_token_is_used_until_logout() throws IOException {
        Files.createDirectory(directory.resolve("mintmark"));
        Files.writeString(token(), "kept.id.token\n");
        Files.setPosixFilePermissions(token(), PosixFilePermissions.fromString("rw-------"));
        idp.mints("deploy", "{\"ACCESS_TOKEN\": \"b\"}");
        client.with("XDG_STATE_HOME", directory.toString());
        assertEquals(0, client.run("get", "deploy").exit());
        assertEquals(
                "Bearer kept.id.token",
                idp.asked().getFirst().header("Authorization").orElseThrow());
        assertEquals(0, client.run("logout").exit());
        assertFalse(Files.exists(token()));
        assertEquals(2, client.run("get", "deploy").exit());
    }

    @Test
    void a_token_that_others_may_read_or_change_is_not_used() throws IOException {
        Files.createDirectory(directory.resolve("mintmark"));
        Files.writeString(token(), "kept.id.token\n");
        Files.setPosixFilePermissions(token(), PosixFilePermissions.fromString("rw-r-----"));
        client.with("XDG_STATE_HOME", directory.toString());
        for (String rights : List.of("rw-r-----", "rw----r--", "rw--w----", "rw-----w-")) {
            Files.setPosixFilePermissions(token(), PosixFilePermissions.fromString(rights));
            assertSays(2, token() + " is not used, because other users own it", client.run("keys"));
        }
        Files.setPosixFilePermissions(token(), PosixFilePermissions.fromString("rw-------"));
        Path state = directory.resolve("mintmark");
        Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertSays(2, state + " is not used, because other users own it", client.run("keys"));
        assertEquals(0, idp.asked().size());
    }

    @Test
    void a_token_that_another_user_owns_or_a_link_is_not_used() throws IOException {
        Files.createDirectory(directory.resolve("mintmark"));
        Path elsewhere = Files.writeString(directory.resolve("elsewhere"), "kept.id.token\n");
        Files.setPosixFilePermissions(elsewhere, PosixFilePermissions.fromString("rw-------"));
        Files.createSymbolicLink(token(), elsewhere);
        client.with("XDG_STATE_HOME", directory.toString());
        assertSays(2, token() + " is not used", client.run("keys"));
        Files.move(elsewhere, token(), StandardCopyOption.REPLACE_EXISTING);
        Path id = Files.writeString(directory.resolve("id"), "#!/bin/sh\necho 54321\n");
        Files.setPosixFilePermissions(id, PosixFilePermissions.fromString("rwxr-xr-x"));
        client.with("PATH", directory + ":" + Shell.SEARCH_PATH);
        assertSays(2, "is not used, because other users own it", client.run("keys"));
        assertEquals(0, idp.asked().size());
    }

    @Test
    void without_a_state_directory_of_its_own_the_token_is_in_the_home() throws IOException {
        Path state = Files.createDirectories(directory.resolve(".local/state/mintmark"));
        Files.writeString(state.resolve("token"), "home.id.token");
        Files.setPosixFilePermissions(
                state.resolve("token"), PosixFilePermissions.fromString("rw-------"));
        idp.mints("deploy", "{\"ACCESS_TOKEN\": \"b\"}");
        client.with("HOME", directory.toString()).with("XDG_STATE_HOME", "relative");
        assertEquals(0, client.run("get", "deploy").exit());
    }

    @Test
    void a_login_that_is_refused_or_forgotten_says_so() {
        try (StandIn refusing = new StandIn();
                StandIn late = new StandIn();
                StandIn strange = new StandIn()) {
            refusing.says("/token", 400, "{\"error\": \"access_denied\"}");
            late.says("/token", 400, "{\"error\": \"expired_token\"}");
            strange.says(
                    "/token",
                    400,
                    "{\"error\": \"invalid_client\", \"error_description\": \"a\\u001bb\"}");
            idp.says("/token", 503, "")
                    .says("/token", 400, "{\"error\": \"authorization_pending\"}");
            List<Process> logins =
                    Stream.of(refusing, late, strange, idp)
                            .map(provider ->
                                    beginLogin(
                                            provider.says(
                                                    "/device",
                                                    200,
                                                    provider == idp
                                                            ? DEVICE.replace("60", "3")
                                                            : DEVICE),
                                            provider.url()))
                            .toList();
            assertSays(1, "the login was denied", ClientProcess.await(logins.get(0)));
            assertSays(1, "the code expired", ClientProcess.await(logins.get(1)));
            assertSays(
                    1, "refused: HTTP 400 invalid_client a?b", ClientProcess.await(logins.get(2)));
            assertSays(1, "the code was not entered in time", ClientProcess.await(logins.get(3)));
        }
    }

    @Test
    void an_issuer_of_another_name_is_not_asked() {
        assertSays(3, "is not an OpenID provider", login("https://other.example.com"));
        assertEquals(1, idp.asked().size());
    }

    /** The curl of this test reaches the stand-in under another name. */
    @ParameterizedTest
    @CsvSource({
        "https://idp.example.com/device, http://localhost:1/token, token_endpoint",
        "http://localhost:1/device, https://idp.example.com/token, device_authorization_endpoint",
        "'http://localhost:1/device,https:', https://idp.example.com/token,"
                + " device_authorization_endpoint",
    })
    void an_issuer_with_tls_sends_nobody_to_plain_http(String device, String token, String refused)
            throws IOException {
        Path curl = directory.resolve("curl");
        Files.writeString(
                curl,
                "#!/bin/sh\nPATH=%s\nsed 's|https://idp.example.com|%s|' | curl \"$@\"\n"
                        .formatted(Shell.SEARCH_PATH, idp.url()));
        Files.setPosixFilePermissions(curl, PosixFilePermissions.fromString("rwx------"));
        idp.says(
                "/.well-known/openid-configuration",
                200,
                """
                {"issuer": "https://idp.example.com", "device_authorization_endpoint": "%s", "token_endpoint": "%s"}
                """
                        .formatted(device, token));
        assertSays(
                1,
                "the identity provider's %s must be https".formatted(refused),
                client.with("PATH", directory + ":" + Shell.SEARCH_PATH)
                        .with("XDG_STATE_HOME", directory.toString())
                        .with("MINTMARK_ISSUER", "https://idp.example.com")
                        .run("login"));
        assertEquals(1, idp.asked().size());
    }

    @Test
    void an_issuer_without_device_flow_says_so() {
        idp.says(
                "/.well-known/openid-configuration",
                200,
                "{\"issuer\": \"%s\"}".formatted(idp.url()));
        assertSays(
                1,
                "supports no login of this client",
                client.with("XDG_STATE_HOME", directory.toString()).run("login"));
    }

    @Test
    void an_issuer_that_is_not_named_is_asked_for() {
        assertSays(
                2,
                "MINTMARK_ISSUER is not set either",
                client.without("MINTMARK_ISSUER").run("login"));
    }

    private static void assertSays(int exit, String message, Ended ended) {
        assertShows(ended.err(), message);
        assertEquals(exit, ended.exit());
    }
}
