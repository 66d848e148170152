package io.mintmark.base.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.config.DatabaseSettings.Login;
import io.mintmark.base.config.LogSettings.LogFormat;
import io.mintmark.base.config.LogSettings.LogLevel;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

class SettingsTest {
    @TempDir Path directory;

    @Test
    void what_nobody_sets_is_what_the_documentation_says() throws IOException {
        ServiceSettings settings = new Environment(directory).settings();

        assertEquals(8080, settings.server().port());
        assertEquals(8081, settings.admin().port());
        assertTrue(settings.admin().host().isLoopbackAddress());
        assertEquals(
                new DatabaseRoles(
                        "mintmark_owner",
                        "mintmark_app",
                        "mintmark_admin",
                        "mintmark_tenant_admin",
                        "mintmark_auditor",
                        "mintmark_console"),
                settings.database().roles());
        assertEquals(
                new RateLimitSettings(true, 100, Duration.ofMinutes(1), 20, List.of(), List.of()),
                settings.rateLimit());
        assertEquals(Set.of(), settings.corsOrigins());
        assertEquals(Duration.ofSeconds(10), settings.providerTimeout());
        assertEquals(Duration.ofSeconds(10), settings.maxStaleness());
        assertEquals(AllowedHosts.NONE, settings.allowedHosts());
        assertEquals(new LogSettings(LogFormat.JSON, LogLevel.INFO), settings.log());
    }

    @Test
    void the_owners_login_alone_can_migrate() {
        assertEquals("owner", migrator(Map.of("DATABASE_OWNER_USERNAME", "owner")));
        assertEquals("given", migrator(Map.of("DATABASE_USERNAME", "given")));
        assertEquals(
                "owner",
                migrator(Map.of("DATABASE_USERNAME", "app", "DATABASE_OWNER_USERNAME", "owner")));
    }

    private String migrator(Map<String, String> logins) {
        Map<String, String> variables = new HashMap<>(logins);
        variables.put("DATABASE_URL", "jdbc:postgresql://localhost/mintmark");
        return new SettingsReader(variables, directory).migrating().migrator().username();
    }

    @Test
    void the_issuer_is_the_brokers_address_unless_set() throws IOException {
        Environment environment = new Environment(directory).with("BROKER_URL", "https://b.io/x/");
        assertEquals(issuer("https://b.io/x"), environment.settings().broker().issuer());

        environment.with("BROKER_ISSUER", "https://tokens.b.io/");
        assertEquals(issuer("https://tokens.b.io"), environment.settings().broker().issuer());
    }

    @Test
    void plain_http_is_for_loopback_hosts() throws IOException {
        for (String host :
                List.of("localhost", "127.0.0.1", "127.8.9.10", "[::1]", "x.localhost")) {
            String url = "http://" + host + ":8080";
            Environment environment = new Environment(directory).with("BROKER_URL", url);

            assertEquals(issuer(url), environment.settings().broker().url());
        }
    }

    @Test
    void allowed_hosts_are_names_and_networks() throws IOException {
        Environment environment =
                new Environment(directory)
                        .with("OUTBOUND_ALLOWED_HOSTS", "IDP.internal,10.0.0.0/8, ::1");

        assertEquals(
                new AllowedHosts(
                        Set.of("idp.internal"),
                        List.of(Cidr.parse("10.0.0.0/8"), Cidr.parse("::1"))),
                environment.settings().allowedHosts());
    }

    @Test
    void a_single_role_migrates_itself() throws IOException {
        DatabaseSettings database =
                new Environment(directory)
                        .without("DATABASE_OWNER_USERNAME")
                        .with("DATABASE_SINGLE_ROLE", "true")
                        .settings()
                        .database();

        assertEquals(new Login("app", Optional.empty()), database.migrator());
    }

    @Test
    void an_auditors_subcommand_needs_the_database_alone() {
        Map<String, String> environment =
                Map.of("DATABASE_URL", "jdbc:postgresql:audit", "DATABASE_USERNAME", "ada");

        DatabaseSettings database = new SettingsReader(environment, directory).database();

        assertEquals("ada", database.login().username());
    }

    @Test
    void no_secret_prints() throws IOException {
        ServiceSettings settings =
                new Environment(directory)
                        .with("DATABASE_URL", "jdbc:postgresql://db/m?user=a&password=hunter1")
                        .with("DATABASE_PASSWORD", "hunter2")
                        .with("DATABASE_OWNER_PASSWORD", "hunter3")
                        .settings();

        assertFalse(settings.toString().contains("hunter"), settings::toString);
        assertTrue(settings.toString().contains("jdbc:postgresql://db/m?"), settings::toString);
        assertEquals("hunter2", settings.database().login().password().orElseThrow().reveal());
    }

    private static Optional<URI> issuer(String url) {
        return Optional.of(URI.create(url));
    }
}
