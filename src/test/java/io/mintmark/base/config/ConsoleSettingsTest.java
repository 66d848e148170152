package io.mintmark.base.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a console needs to be told, and what it doesn't take. */
class ConsoleSettingsTest {
    private final Map<String, String> environment = new HashMap<>();
    @TempDir private Path directory;

    @BeforeEach
    void complete() throws IOException {
        Path key = Files.writeString(directory.resolve("cookie.key"), "AAAA");
        environment.putAll(
                Map.of(
                        "DATABASE_URL", "jdbc:postgresql://localhost/x",
                        "DATABASE_USERNAME", "viewer",
                        "CONSOLE_URL", "https://console.example.com",
                        "CONSOLE_OIDC_ISSUER", "https://idp.example.com/realms/main/",
                        "CONSOLE_OIDC_CLIENT_ID", "console",
                        "CONSOLE_OIDC_CLIENT_SECRET", "secret",
                        "CONSOLE_COOKIE_KEY_FILE", key.toString()));
    }

    private ConsoleSettings read() {
        return new SettingsReader(environment, directory).console();
    }

    @Test
    void no_more_is_needed_than_where_who_and_with_what() {
        ConsoleSettings settings = read();

        assertEquals(8082, settings.port());
        assertEquals("https://idp.example.com/realms/main/", settings.issuer().toString());
        assertEquals("secret", settings.clientSecret().reveal());
    }

    @Test
    void all_that_is_missing_is_told_at_once() {
        environment.keySet().removeIf(name -> name.startsWith("CONSOLE_"));

        List<String> complaints =
                assertThrows(InvalidSettings.class, this::read).complaints().stream()
                        .map(complaint -> complaint.split(" ", 2)[0])
                        .sorted()
                        .distinct()
                        .toList();

        assertEquals(
                List.of(
                        "CONSOLE_COOKIE_KEY_FILE",
                        "CONSOLE_OIDC_CLIENT_ID",
                        "CONSOLE_OIDC_CLIENT_SECRET",
                        "CONSOLE_OIDC_ISSUER",
                        "CONSOLE_URL"),
                complaints);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    CONSOLE_URL | https://console.example.com/mint | CONSOLE_URL has the path '/mint': give the console a host name of its own
                    CONSOLE_OIDC_ISSUER | http://idp.example.com | CONSOLE_OIDC_ISSUER uses plain http to idp.example.com, which exposes secrets: use https, or list the host in OUTBOUND_ALLOWED_HOSTS
                    BROKER_URL | http://broker.example.com | BROKER_URL must be an https URL such as https://broker.example.com, without a user name, query or fragment (http only on localhost)
                    """)
    void what_could_not_be_safe_is_refused(String name, String value, String complaint) {
        environment.put(name, value);

        assertEquals(complaint, assertThrows(InvalidSettings.class, this::read).getMessage());
    }

    @Test
    void the_clients_secret_may_stand_in_a_file_and_not_in_both() throws IOException {
        Path file = Files.writeString(directory.resolve("secret"), "of a file\n");
        environment.put("CONSOLE_OIDC_CLIENT_SECRET_FILE", file.toString());
        assertEquals(
                "CONSOLE_OIDC_CLIENT_SECRET and CONSOLE_OIDC_CLIENT_SECRET_FILE are both set:"
                        + " remove one of them",
                assertThrows(InvalidSettings.class, this::read).getMessage());

        environment.remove("CONSOLE_OIDC_CLIENT_SECRET");
        assertEquals("of a file", read().clientSecret().reveal());
    }

    @Test
    void the_admin_port_exists_only_where_it_is_set() {
        assertTrue(read().admin().isEmpty());

        environment.put("CONSOLE_ADMIN_PORT", "8083");
        AdminSettings admin = read().admin().orElseThrow();
        assertEquals(8083, admin.port());
        assertTrue(admin.host().isLoopbackAddress());
    }

    @Test
    void an_admin_port_that_would_not_be_there_or_is_the_pages_port_is_refused() {
        environment.put("CONSOLE_ADMIN_PORT", "8082");
        assertEquals(
                "CONSOLE_PORT and CONSOLE_ADMIN_PORT are both 8082: set CONSOLE_ADMIN_PORT to another port",
                assertThrows(InvalidSettings.class, this::read).getMessage());

        environment.remove("CONSOLE_ADMIN_PORT");
        environment.put("CONSOLE_ADMIN_HOST", "0.0.0.0");
        assertEquals(
                "CONSOLE_ADMIN_HOST is set without CONSOLE_ADMIN_PORT: set both, or neither if the console needs no admin port",
                assertThrows(InvalidSettings.class, this::read).getMessage());
    }
}
