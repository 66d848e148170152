package io.mintmark.base.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

class ConfigurationFileTest {
    @TempDir Path directory;

    @Test
    void the_file_gives_settings_and_the_environment_overrides_them() throws IOException {
        ServiceSettings settings =
                new Environment(directory)
                        .with("SERVER_PORT", "9001")
                        .file("server:\n  port: 9000\n  header-timeout: PT3S\n")
                        .settings();

        assertEquals(9001, settings.server().port());
        assertEquals(3, settings.server().bounds().headerTimeout().toSeconds());
    }

    @Test
    void a_blank_variable_does_not_override_the_file() throws IOException {
        Environment environment =
                new Environment(directory).with("SERVER_PORT", "").file("server.port: 9000");

        assertEquals(9000, environment.settings().server().port());
    }

    @Test
    void scalars_mean_what_is_written() throws IOException {
        Environment environment = new Environment(directory).file("database: {password: 0123}");

        assertEquals(
                Optional.of(new Password("0123")),
                environment.settings().database().login().password());
    }

    @Test
    void nothing_in_the_file_is_replaced() throws IOException {
        Environment environment =
                new Environment(directory).file("database.password: p${BROKER_URL}\n");

        assertEquals(
                Optional.of(new Password("p${BROKER_URL}")),
                environment.settings().database().login().password());
    }

    @Test
    void lists_are_written_as_yaml_or_with_commas() throws IOException {
        ServiceSettings settings =
                new Environment(directory)
                        .file(
                                """
                                cors:
                                  allowed-origins:
                                    - https://a.example.com
                                    - https://b.example.com
                                trusted-proxies: 10.0.0.0/8, 192.0.2.1
                                """)
                        .settings();

        assertEquals(
                Set.of("https://a.example.com", "https://b.example.com"), settings.corsOrigins());
        assertEquals(
                List.of(Cidr.parse("10.0.0.0/8"), Cidr.parse("192.0.2.1/32")),
                settings.rateLimit().trustedProxies());
    }

    @Test
    void empty_values_count_as_not_set() throws IOException {
        Environment environment =
                new Environment(directory)
                        .file("server:\n  port:\n  host: ~\ncors: {allowed-origins: []}\n");

        assertEquals(8080, environment.settings().server().port());
    }

    @Test
    void an_empty_file_is_a_file() throws IOException {
        assertEquals(8080, new Environment(directory).file("# later\n").settings().server().port());
    }

    @Test
    void another_file_can_be_named() throws IOException {
        Files.writeString(directory.resolve("other.yaml"), "server.port: 9000");
        Environment environment = new Environment(directory).with("MINTMARK_CONFIG", "other.yaml");

        assertEquals(9000, environment.settings().server().port());
    }

    @Test
    void a_named_file_must_exist() throws IOException {
        String missing = directory.resolve("other.yaml").toString();
        Environment environment = new Environment(directory).with("MINTMARK_CONFIG", missing);

        assertEquals(
                "MINTMARK_CONFIG must be a file that the broker can read, not '%s'"
                        .formatted(Format.echo(missing)),
                environment.refusal());
    }

    @Test
    void an_unknown_key_is_named_with_its_nearest() throws IOException {
        assertRefused(
                "server:\n  porrt: 1\n",
                "application.yaml line 2 has an unknown key 'server.porrt'; the nearest known key"
                        + " is 'server.port'");
        assertRefused(
                "DATABASE_URL: jdbc:postgresql:x\n",
                "application.yaml line 1 has an unknown key 'DATABASE_URL'; the nearest known key"
                        + " is 'database.url'");
        assertRefused(
                "server:\n  port:\n    public: 1\n",
                "application.yaml line 3 must have a string or a list here");
    }

    @Test
    void a_wrong_value_is_named_by_key_and_line() throws IOException {
        assertRefused(
                "\nserver:\n  port: http\n",
                "server.port (application.yaml line 3) must be a whole number, 0 to 65535, not"
                        + " 'http'");
    }

    @Test
    void a_key_stands_once() throws IOException {
        assertRefused(
                "server:\n  port: 1\nserver.port: 2\n",
                "application.yaml line 3 has the key 'server.port' twice");
    }

    @Test
    void broken_files_are_refused_without_quoting_them() throws IOException {
        assertRefused("a: [\nhunter2", "application.yaml line 2 isn't valid YAML");
        assertRefused("database.password: a: hunter2", "application.yaml line 1 isn't valid YAML");
        assertRefused("hunter2", "application.yaml line 1 must have pairs of keys and values here");
        assertRefused(
                "server: 1", "application.yaml line 1 must have pairs of keys and values here");
        assertRefused(
                "? [a]\n: b", "application.yaml line 1 must have a single word as the key here");
        assertRefused(
                "trusted-proxies: [[a]]", "application.yaml line 1 must have strings in this list");
    }

    @Test
    void a_file_that_is_not_text_is_refused() throws IOException {
        Environment environment = new Environment(directory);
        Files.write(
                directory.resolve("application.yaml"),
                "broker.url: \u00e9".getBytes(StandardCharsets.ISO_8859_1));

        assertEquals("application.yaml isn't text in UTF-8", environment.refusal());
    }

    private void assertRefused(String yaml, String message) throws IOException {
        assertEquals(message, new Environment(directory).file(yaml).refusal());
    }
}
