package io.mintmark.base.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** An operator is told of everything at one start. */
class AllAtOnceTest {
    @TempDir Path directory;

    private static List<String> namedBy(Environment environment) {
        return complaints(environment).stream().map(line -> line.split(" ", 2)[0]).toList();
    }

    private static List<String> complaints(Environment environment) {
        return assertThrows(InvalidSettings.class, environment::settings).complaints();
    }

    @Test
    void wrong_and_missing_settings_of_all_sections_are_told_together() throws IOException {
        Environment environment =
                new Environment(directory)
                        .with("SERVER_PORT", "http")
                        .with("SERVER_IDLE_TIMEOUT", "10")
                        .with("DATABASE_URL", "")
                        .with("DATABASE_USERNAME", "")
                        .with("RATE_LIMIT_BURST", "many")
                        .with("LOG_LEVEL", "loud");

        assertEquals(
                List.of(
                        "SERVER_PORT",
                        "SERVER_IDLE_TIMEOUT",
                        "DATABASE_URL",
                        "DATABASE_USERNAME",
                        "RATE_LIMIT_BURST",
                        "LOG_LEVEL"),
                namedBy(environment));
    }

    @Test
    void equal_ports_are_one_line() throws IOException {
        Environment equal = new Environment(directory).with("ADMIN_PORT", "8080");

        assertEquals(
                List.of("SERVER_PORT and ADMIN_PORT are both 8080: set ADMIN_PORT to another port"),
                complaints(equal));
    }

    @Test
    void equal_ports_of_two_addresses_are_well() throws IOException {
        ServiceSettings settings =
                new Environment(directory)
                        .with("SERVER_HOST", "127.0.0.2")
                        .with("ADMIN_PORT", "8080")
                        .settings();

        assertEquals(settings.server().port(), settings.admin().port());
    }

    @Test
    void a_certificate_without_its_key_is_refused() throws IOException {
        Environment half =
                new Environment(directory)
                        .with("ADMIN_TLS_KEY_FILE", directory.resolve("audit.pem").toString());

        assertEquals(
                List.of(
                        "ADMIN_TLS_KEY_FILE is set without ADMIN_TLS_CERTIFICATE_FILE: set both, or"
                                + " neither for plain HTTP"),
                complaints(half));
    }

    @Test
    void an_empty_environment_is_told_all_that_a_broker_needs() {
        InvalidSettings refusal =
                assertThrows(
                        InvalidSettings.class, () -> new SettingsReader(Map.of(), directory).all());

        assertEquals(
                List.of(
                        "DATABASE_URL",
                        "DATABASE_USERNAME",
                        "AUDIT_SIGNING_KEY_FILE",
                        "BROKER_SIGNING_KEYS_DIR",
                        "BROKER_URL"),
                refusal.complaints().stream().map(line -> line.split(" ", 2)[0]).toList());
    }

    @Test
    void the_file_and_the_environment_are_told_together() throws IOException {
        Environment environment =
                new Environment(directory)
                        .file("server:\n  porrt: 1\nadmin:\n  port: http\ncolour: blue\n")
                        .with("LOG_FORMAT", "xml");

        assertEquals(
                List.of(
                        "application.yaml line 2",
                        "application.yaml line 5",
                        "admin.port (application.yaml line 4)",
                        "LOG_FORMAT"),
                complaints(environment).stream()
                        .map(line -> line.split(" (has|must) ", 2)[0])
                        .toList());
    }

    @Test
    void what_two_sections_say_together_is_told_beside_the_rest() throws IOException {
        Environment environment =
                new Environment(directory)
                        .without("DATABASE_OWNER_USERNAME")
                        .with("PROVIDER_TIMEOUT", "ten")
                        .with("BROKER_IDP_SCOPE", "openid")
                        .with("BROKER_IDP_AUDIENCE", "a");

        assertEquals(
                List.of(
                        "PROVIDER_TIMEOUT",
                        "DATABASE_OWNER_USERNAME",
                        "BROKER_IDP_AUDIENCE",
                        "BROKER_IDP_SCOPE"),
                namedBy(environment));
    }
}
