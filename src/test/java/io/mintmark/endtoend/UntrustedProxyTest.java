package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.config.LogSettings;
import io.mintmark.base.config.LogSettings.LogFormat;
import io.mintmark.base.config.LogSettings.LogLevel;
import io.mintmark.base.logging.Logging;
import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Behind a reverse proxy that no setting names, all clients count as one. */
@ResourceLock(Resources.SYSTEM_ERR)
class UntrustedProxyTest {
    @AutoClose private static final TestDatabase database = TestDatabase.migrated();

    /** The warnings of a broker that gets these headers, one request with each. */
    private static List<String> warnings(Map<String, String> settings, List<String> headers) {
        PrintStream usual = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        try (RunningBroker broker = RunningBroker.on(database, settings)) {
            System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
            Logging.install(new LogSettings(LogFormat.JSON, LogLevel.WARNING));
            headers.forEach(header -> broker.get("/nothing", header, "198.51.100.1"));
        } finally {
            System.setErr(usual);
            Logging.install(new LogSettings(LogFormat.TEXT, LogLevel.WARNING));
        }
        return log.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains("TRUSTED_PROXIES"))
                .toList();
    }

    private static double counted(RunningBroker broker) {
        URI address =
                URI.create("http://localhost:%d/observe/metrics".formatted(broker.adminPort()));
        String name = "mintmark_forwarding_ignored_total{";
        return broker.send(HttpRequest.newBuilder(address).header("Accept", "text/plain").GET())
                .response()
                .body()
                .lines()
                .filter(line -> line.startsWith(name))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElse(Double.NaN);
    }

    @Test
    void the_first_forwarded_request_is_one_warning_with_the_address_and_the_setting() {
        List<String> warnings =
                warnings(
                        Map.of("TRUSTED_PROXIES", "10.0.0.0/8"),
                        List.of("Accept", "X-Forwarded-For", "X-Forwarded-For", "Forwarded"));

        assertEquals(1, warnings.size(), warnings::toString);
        assertTrue(warnings.getFirst().contains("127.0.0.1"), warnings::toString);
        assertTrue(warnings.getFirst().contains("\"level\":\"warning\""), warnings::toString);
    }

    @Test
    void a_forwarded_header_alone_is_one_too_and_a_listed_proxy_is_none() {
        assertEquals(1, warnings(Map.of(), List.of("Forwarded")).size());
        assertEquals(
                List.of(),
                warnings(
                        Map.of("TRUSTED_PROXIES", "127.0.0.0/8"),
                        List.of("X-Forwarded-For", "Forwarded")));
        assertEquals(List.of(), warnings(Map.of(), List.of("Accept")));
    }

    @Test
    void every_such_request_is_counted_from_zero_on() {
        try (RunningBroker broker = RunningBroker.on(database, Map.of())) {
            double before = counted(broker);
            broker.get("/health", "X-Forwarded-For", "198.51.100.1");
            broker.get("/nothing", "Forwarded", "for=198.51.100.1");
            broker.get("/nothing");

            assertEquals(before + 2, counted(broker));
        }
    }
}
