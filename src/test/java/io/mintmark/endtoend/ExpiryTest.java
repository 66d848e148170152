package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.Authority;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.provider.x509.Ca;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** What operators see of certificates that expire and of keys that grow old. */
class ExpiryTest {
    @TempDir private Path directory;

    @Test
    void certificates_and_keys_show_when_they_have_to_be_replaced() throws Exception {
        Path certificate = directory.resolve("tls.crt");
        Path key = directory.resolve("tls.key");
        new Authority().write("localhost", certificate, key);
        Ca ca = Ca.of("EC", Duration.ofDays(30));
        try (TestDatabase database = TestDatabase.migrated()) {
            database.admin(
                    """
                    INSERT INTO broker.tenant (name) VALUES ('acme');
                    INSERT INTO broker.access_provider (tenant, name, type, settings)
                    VALUES ('acme', 'tls', 'x509', '{"ca_key": {"file": "ca"}, "ca_certificate": %s}')
                    """
                            .formatted(new ObjectMapper().valueToTree(ca.certificate())));
            try (RunningBroker broker =
                    RunningBroker.on(
                            database,
                            Map.of(
                                    "SERVER_TLS_CERTIFICATE_FILE", certificate.toString(),
                                    "SERVER_TLS_KEY_FILE", key.toString()))) {
                Eventually.holds(() -> !found(broker, "provider=\"tls\"").isEmpty());

                assertDistance(
                        Duration.ofHours(1), value(broker, "file=\"SERVER_TLS_CERTIFICATE_FILE\""));
                assertTrue(
                        found(broker, "provider=\"tls\"").getFirst().contains("tenant=\"acme\""));
                assertDistance(Duration.ofDays(30), value(broker, "provider=\"tls\""));
            }
        }
    }

    @Test
    void the_age_of_signing_and_audit_keys_is_shown() {
        try (TestDatabase database = TestDatabase.migrated();
                RunningBroker broker = RunningBroker.on(database)) {
            List<String> ages =
                    metrics(broker)
                            .lines()
                            .filter(line -> line.startsWith("mintmark_key_age_seconds{"))
                            .toList();
            assertEquals(2, ages.size(), ages::toString);
            double signing =
                    number(
                            ages.stream()
                                    .filter(line -> line.contains("BROKER_SIGNING_KEYS_DIR"))
                                    .findFirst()
                                    .orElseThrow());
            double since =
                    Duration.between(Instant.parse("2026-01-01T00:00:00Z"), Instant.now())
                            .toSeconds();
            assertEquals(since, signing, 120);
        }
    }

    private static void assertDistance(Duration expected, double notAfter) {
        assertEquals((double) Instant.now().plus(expected).getEpochSecond(), notAfter, 300);
    }

    private static double value(RunningBroker broker, String label) {
        List<String> found = found(broker, label);
        assertEquals(1, found.size(), found::toString);
        return number(found.getFirst());
    }

    private static double number(String line) {
        return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
    }

    private static List<String> found(RunningBroker broker, String label) {
        return metrics(broker)
                .lines()
                .filter(line -> line.startsWith("mintmark_not_after_seconds{"))
                .filter(line -> line.contains(label))
                .toList();
    }

    private static String metrics(RunningBroker broker) {
        URI uri = URI.create("http://localhost:%d/observe/metrics".formatted(broker.adminPort()));
        return Unchecked.call(() -> {
            try (HttpClient client = HttpClient.newHttpClient()) {
                return client.send(
                                HttpRequest.newBuilder(uri)
                                        .header("Accept", RefusedFiles.FORMAT)
                                        .build(),
                                BodyHandlers.ofString())
                        .body();
            }
        });
    }
}
