package io.mintmark.keycloak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** People log in with the shell client, Keycloak's device flow and a browser. */
class KeycloakDeviceLoginIT {
    private static final String OPEN = "mintmark-client: or open ";

    @AutoClose private static World world;
    private static KeycloakRealm realm;

    @TempDir Path directory;

    @BeforeAll
    static void start() {
        realm = Keycloak.started().realm("people", "people.json");
        world = new World();
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('people', 'acme', '%s', '{mintmark-cli}')
                """
                        .formatted(realm.issuer()));
    }

    private Process client(String clientId, String... arguments) throws IOException {
        String[] command = new String[arguments.length + 2];
        command[0] = "sh";
        command[1] = Path.of("src", "clients", "mintmark-client").toAbsolutePath().toString();
        System.arraycopy(arguments, 0, command, 2, arguments.length);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment()
                .putAll(
                        Map.of(
                                "MINTMARK_URL", world.broker().url().toString(),
                                "MINTMARK_ISSUER", realm.issuer(),
                                "MINTMARK_CLIENT_ID", clientId,
                                "XDG_STATE_HOME", directory.toString()));
        return builder.start();
    }

    private String run(String... arguments) throws IOException, InterruptedException {
        Process process = client("mintmark-cli", arguments);
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return process.waitFor() + " " + said;
    }

    /** Starts a login, and returns where the client says to go. */
    private static URI promptOf(Process login) throws IOException {
        BufferedReader lines = login.inputReader();
        StringBuilder said = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith(OPEN)) {
                return URI.create(line.substring(OPEN.length()));
            }
            said.append(line).append('\n');
        }
        throw new AssertionError("no prompt: " + said);
    }

    @Test
    void a_person_who_confirms_in_a_browser_is_logged_in_until_logout() throws Exception {
        Process login = client("mintmark-cli", "login");
        try (Browser browser = new Browser()) {
            browser.open(promptOf(login))
                    .submit(Map.of("username", "alice", "password", "alice-password"))
                    .submit(Map.of("accept", "Yes"));
            assertEquals(0, login.waitFor(), browser::page);
        }
        String token = Files.readString(directory.resolve("mintmark/token")).strip();
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'people', '%s', 'api')
                """
                        .formatted(KeycloakRealm.subject(token)));
        String minted = run("exec", "api", "--", "sh", "-c", "echo ${ACCESS_TOKEN%%.*}");
        assertTrue(minted.startsWith("0 eyJ"), minted);
        assertTrue(run("whoami").contains("token from         login, until "));
        assertTrue(run("logout").startsWith("0 "));
        assertTrue(run("keys").startsWith("2 "));
    }

    @Test
    void a_person_who_refuses_is_not() throws Exception {
        Process login = client("mintmark-cli", "login");
        try (Browser browser = new Browser()) {
            browser.open(promptOf(login))
                    .submit(Map.of("username", "alice", "password", "alice-password"))
                    .submit(Map.of("cancel", "No"));
        }
        String said = new String(login.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(1, login.waitFor(), said);
    }

    @Test
    void a_client_without_the_flow_is_told_so() throws Exception {
        Process login = client("no-device-flow", "login");
        String said = new String(login.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(1, login.waitFor(), said);
        assertTrue(said.contains("the identity provider refused: HTTP 40"), said);
    }
}
