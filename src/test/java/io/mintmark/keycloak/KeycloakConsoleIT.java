package io.mintmark.keycloak;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.RunningConsole;
import io.mintmark.console.wiring.ConsoleStartup;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.provider.types.CredentialTypes;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.net.URI;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;

/** People log in to the console at a real Keycloak, and out of both. */
class KeycloakConsoleIT {
    @AutoClose private static TestDatabase database;
    private static KeycloakRealm realm;
    private static String url;

    @BeforeAll
    static void start() {
        database = TestDatabase.migrated();
        database.admin(
                """
                INSERT INTO broker.tenant (name, display_name) VALUES ('acme', 'ACME Retail');
                INSERT INTO broker.console_access (tenant, claim, value)
                VALUES ('acme', 'email', '["alice@example.com", "mallory@example.com"]')
                """);
        int port = RunningBroker.freePort();
        url = "http://localhost:" + port;
        Keycloak keycloak = Keycloak.started();
        realm =
                keycloak.make(
                        keycloak.realm("console"),
                        "console.json",
                        Map.of("console", url, "secret", RunningConsole.SECRET));
        database.closing(
                new ConsoleStartup(
                                new SettingsReader(
                                                RunningConsole.environment(
                                                        database, realm.issuer(), url, port),
                                                Path.of("target"))
                                        .console(),
                                CredentialTypes.byName(),
                                InstantSource.system())
                        .run());
    }

    private static Browser logIn(Browser browser, String person, String path) {
        return browser.open(URI.create(url + path))
                .submit(Map.of("username", person, "password", person + "-password"));
    }

    @Test
    void whoever_logs_in_comes_back_to_the_page_that_was_asked_for() {
        try (Browser browser = new Browser()) {
            logIn(browser, "alice", "/tenants/acme");

            assertTrue(browser.page().contains("ACME Retail"), browser.page());
            assertTrue(browser.page().contains("alice@example.com"), browser.page());
        }
    }

    @Test
    void an_address_that_keycloak_has_not_verified_opens_nothing() {
        try (Browser browser = new Browser()) {
            logIn(browser, "mallory", "/");

            assertTrue(
                    browser.page().contains("INSERT INTO broker.console_access"), browser.page());
        }
    }

    @Test
    void a_key_that_keycloak_replaces_is_taken_over() {
        realm.rotate();

        try (Browser browser = new Browser()) {
            logIn(browser, "alice", "/tenants/acme");

            assertTrue(browser.page().contains("ACME Retail"), browser.page());
        }
    }

    @Test
    void logging_out_ends_the_session_at_keycloak_too() {
        try (Browser browser = new Browser()) {
            logIn(browser, "alice", "/");

            browser.open(URI.create(url + "/logout"));
            assertTrue(browser.page().contains("Your session has ended."), browser.page());

            browser.open(URI.create(url + "/"));
            assertTrue(browser.page().contains("name=\"password\""), browser.page());
            assertFalse(browser.page().contains("the broker done since"), browser.page());
        }
    }
}
