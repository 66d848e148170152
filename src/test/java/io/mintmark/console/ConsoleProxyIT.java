package io.mintmark.console;

import static io.mintmark.console.CookieJar.location;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.http.ReverseProxy;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.console.SignInStandIn.Person;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Logging in to the console through reverse proxies with the buffers that they have by default, by
 * somebody in a hundred groups. Run by {@code mvn test -Pproxies}, as the malformed requests are.
 */
class ConsoleProxyIT {
    @TempDir private Path directory;

    static Stream<String> proxies() {
        return Stream.of(System.getProperty("proxies", "nginx,haproxy,trafficserver").split(","));
    }

    @ParameterizedTest
    @MethodSource("proxies")
    void somebody_in_a_hundred_groups_logs_in_and_out(String name) throws IOException {
        int port = RunningBroker.freePort();
        try (TestDatabase database = TestDatabase.migrated();
                IssuerStandIn issuer = IssuerStandIn.start();
                ReverseProxy proxy = ReverseProxy.start(name, directory, port)) {
            database.admin(
                    "INSERT INTO broker.console_access (all_tenants, claim, value) VALUES (true, 'sub', '\"audrey\"')");
            String url = "http://localhost:" + proxy.port();
            List<String> groups =
                    IntStream.range(0, 100)
                            .mapToObj(i -> "%s-%03d".formatted(UUID.randomUUID(), i))
                            .toList();
            var _ =
                    new SignInStandIn(
                            issuer,
                            RunningConsole.CLIENT,
                            RunningConsole.SECRET,
                            url,
                            List.of(new Person("audrey", Map.of("groups", groups))));
            try (RunningConsole _ =
                            RunningConsole.start(
                                    database,
                                    issuer.url(),
                                    _ ->
                                            RunningConsole.pages(
                                                    Set.of("/"),
                                                    (_, response) -> response.send("a page")),
                                    port,
                                    Map.of("CONSOLE_URL", url));
                    CookieJar browser = new CookieJar()) {
                HttpResponse<String> page =
                        browser.open(location(browser.get(url + "/")) + "&as=audrey");
                assertEquals("a page", page.body(), () -> page.statusCode() + " behind " + name);
                assertEquals(
                        303,
                        browser.get(url + "/logout").statusCode(),
                        "the logout behind " + name);
            }
        }
    }
}
