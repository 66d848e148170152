package io.mintmark.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.outbound.Authority;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.console.wiring.Console;
import io.mintmark.console.wiring.ConsoleStartup;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.provider.types.CredentialTypes;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A console with a certificate of its own. */
class ConsoleTlsTest {
    @TempDir private Path directory;

    private final Authority authority = new Authority();

    @Test
    void it_terminates_tls_and_begins_logins() throws Exception {
        int port = RunningBroker.freePort();
        String url = "https://localhost:" + port;
        try (TestDatabase database = TestDatabase.migrated();
                IssuerStandIn issuer = IssuerStandIn.start()) {
            var _ =
                    new SignInStandIn(
                            issuer, RunningConsole.CLIENT, RunningConsole.SECRET, url, List.of());
            Map<String, String> settings = settings(database, issuer, url, port);
            try (Console console =
                            new ConsoleStartup(
                                            new SettingsReader(settings, directory).console(),
                                            CredentialTypes.byName(),
                                            InstantSource.system())
                                    .run();
                    HttpClient client =
                            HttpClient.newBuilder().sslContext(authority.client()).build()) {
                assertEquals(port, console.port());
                assertEquals(200, get(client, url + "/health").statusCode());

                HttpResponse<String> login = get(client, url + "/");
                assertEquals(303, login.statusCode());
                String cookie = login.headers().firstValue("Set-Cookie").orElse("");
                assertTrue(cookie.startsWith("__Host-mintmark-login="), cookie);
                assertTrue(cookie.contains("Secure"), cookie);
            }
        }
    }

    private Map<String, String> settings(
            TestDatabase database, IssuerStandIn issuer, String url, int port) throws Exception {
        Path certificate = directory.resolve("tls.crt");
        Path key = directory.resolve("tls.key");
        authority.write("localhost", certificate, key);
        Map<String, String> settings =
                new HashMap<>(RunningConsole.environment(database, issuer.url(), url, port));
        settings.put("CONSOLE_TLS_CERTIFICATE_FILE", certificate.toString());
        settings.put("CONSOLE_TLS_KEY_FILE", key.toString());
        return settings;
    }

    private static HttpResponse<String> get(HttpClient client, String url) throws Exception {
        return client.send(
                HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString());
    }
}
