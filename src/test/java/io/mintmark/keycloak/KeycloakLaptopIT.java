package io.mintmark.keycloak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** People log in with nothing but the broker's address, by Keycloak's page in a browser. */
class KeycloakLaptopIT {
    private static final String PAGE = "if not, open the page yourself:";

    @AutoClose private static World world;

    @TempDir Path home;

    @BeforeAll
    static void start() {
        KeycloakRealm realm = Keycloak.started().realm("laptops", "people.json");
        world = new World();
        world.admin(
                """
                INSERT INTO broker.identity_provider
                       (name, tenant, issuer, audiences, login_client_id)
                VALUES ('people', 'acme', '%s', '{mintmark-cli}', 'mintmark-cli');
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'people', '%s', 'api'), ('acme', 'people', '%s', 'api');
                """
                        .formatted(realm.issuer(), id(realm, "alice"), id(realm, "ben")));
    }

    private static String id(KeycloakRealm realm, String person) {
        return realm.ask("GET", "/users?username=" + person, "").at("/0/id").asText();
    }

    /** Runs the client with a browser that the test plays. */
    private Process client(String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add("sh");
        command.add(Path.of("src", "clients", "mintmark-client").toAbsolutePath().toString());
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> !name.equals("PATH"));
        builder.environment().putAll(Map.of("HOME", home.toString(), "BROWSER", "true"));
        return builder.start();
    }

    private String run(String... arguments) throws IOException, InterruptedException {
        Process process = client(arguments);
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return process.waitFor() + " " + said;
    }

    /** Logs in at the page that the client opens, and at the next one by the session there. */
    private String login(String person, String... arguments) throws Exception {
        Process login = client(arguments);
        BufferedReader lines = login.inputReader();
        StringBuilder said = new StringBuilder();
        try (Browser browser = new Browser()) {
            String line = lines.readLine();
            while (line != null) {
                said.append(line).append('\n');
                if (line.endsWith(PAGE)) {
                    browser.open(URI.create(lines.readLine()));
                    if (!browser.page().contains("mintmark-client")) {
                        browser.submit(
                                Map.of("username", person, "password", person + "-password"));
                    }
                }
                line = lines.readLine();
            }
            assertEquals(0, login.waitFor(), said.toString());
            assertTrue(browser.page().contains("You are logged in"), browser::page);
        }
        return said.toString();
    }

    private void assertMints(String person) throws Exception {
        String minted = run("exec", "api", "--", "sh", "-c", "echo ${ACCESS_TOKEN%%.*}");
        assertTrue(minted.startsWith("0 eyJ"), () -> person + ": " + minted);
    }

    @ParameterizedTest
    @CsvSource({"alice, false", "ben, true"})
    void a_person_logs_in_by_the_brokers_address_and_the_login_is_renewed(
            String person, boolean withoutOfflineAccess) throws Exception {
        String said = login(person, "login", world.broker().url() + "/tenants/acme");
        assertEquals(withoutOfflineAccess, said.contains("does not allow offline_access"), said);
        String keys = run("keys");
        assertTrue(keys.startsWith("0 ") && keys.contains("api"), keys);
        assertMints(person);

        Path state = home.resolve(".local/state/mintmark");
        String first = Files.readString(state.resolve("token"));
        Path until = state.resolve("login");
        Files.writeString(until, Files.readString(until).replaceAll("(\"until\": \")\\d+", "$11"));
        assertMints(person);
        assertNotEquals(first, Files.readString(state.resolve("token")));
    }
}
