package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.Authority;
import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** A broker that terminates TLS itself, at both ports. */
class TlsTest {
    @TempDir private Path directory;

    private final Authority authority = new Authority();
    @AutoClose private TestDatabase database;
    private Path certificate;
    private Path key;

    @BeforeEach
    void write() throws Exception {
        database = TestDatabase.migrated();
        certificate = directory.resolve("tls.crt");
        key = directory.resolve("tls.key");
        authority.write("localhost", certificate, key);
    }

    @Test
    void a_pair_is_changed_under_load_without_a_failed_request() throws Exception {
        try (RunningBroker broker = RunningBroker.on(database, settings());
                Load load = new Load(uri(broker.url().getPort(), "/health"))) {
            Eventually.holds(() -> load.answered() > 20);
            String before = serial(broker);

            authority.write("localhost", certificate, key);
            Eventually.holds(() -> !serial(broker).equals(before));
            int answered = load.answered();
            Eventually.holds(() -> load.answered() > answered + 20);

            assertEquals(0, load.failures().size(), load.failures()::toString);
        }
    }

    @Test
    void a_pair_that_does_not_fit_shows_in_the_metrics_while_the_former_one_serves()
            throws Exception {
        try (RunningBroker broker = RunningBroker.on(database, settings())) {
            String before = serial(broker);
            assertTrue(isRefused(broker, 0), () -> "0 from the start");
            String former = Files.readString(key);

            PemFiles.p256(key);
            Eventually.holds(() -> isRefused(broker, 1));
            assertEquals(before, serial(broker));

            Files.writeString(key, former);
            Eventually.holds(() -> isRefused(broker, 0));
        }
    }

    @Test
    void a_start_refuses_a_pair_that_does_not_fit_and_names_it() {
        PemFiles.p256(key);

        var failure =
                assertThrows(RuntimeException.class, () -> RunningBroker.on(database, settings()));

        assertEquals(
                "SERVER_TLS_CERTIFICATE_FILE and SERVER_TLS_KEY_FILE: the key in '%s' doesn't belong to the first certificate in '%s'"
                        .formatted(key, certificate),
                failure.getMessage());
    }

    private Map<String, String> settings() {
        return Map.of(
                "SERVER_TLS_CERTIFICATE_FILE", certificate.toString(),
                "SERVER_TLS_KEY_FILE", key.toString(),
                "ADMIN_TLS_CERTIFICATE_FILE", certificate.toString(),
                "ADMIN_TLS_KEY_FILE", key.toString());
    }

    private boolean isRefused(RunningBroker broker, int value) {
        String metrics = get(uri(broker.adminPort(), "/observe/metrics")).body();
        return RefusedFiles.isShown(metrics, "SERVER_TLS_CERTIFICATE_FILE", value);
    }

    private static URI uri(int port, String path) {
        return URI.create("https://localhost:%d%s".formatted(port, path));
    }

    /** Of the certificate that a new connection gets. */
    private String serial(RunningBroker broker) {
        return get(uri(broker.url().getPort(), "/health"))
                .sslSession()
                .map(session -> {
                    return Unchecked.call(() -> session.getPeerCertificates()[0].toString());
                })
                .orElseThrow();
    }

    private HttpResponse<String> get(URI uri) {
        try (HttpClient client = client()) {
            return client.send(
                    HttpRequest.newBuilder(uri).header("Accept", RefusedFiles.FORMAT).build(),
                    BodyHandlers.ofString());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private HttpClient client() {
        return Unchecked.call(() -> HttpClient.newBuilder().sslContext(authority.client()).build());
    }

    /** Two clients that ask again and again, one of them on a new connection each time. */
    private final class Load implements AutoCloseable {
        private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        private final AtomicInteger answered = new AtomicInteger();
        private final AtomicBoolean stopped = new AtomicBoolean();
        private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

        Load(URI uri) {
            var _ = threads.submit(() -> ask(() -> get(uri)));
            HttpClient kept = client();
            var _ =
                    threads.submit(() ->
                            ask(() ->
                                    kept.send(
                                            HttpRequest.newBuilder(uri).build(),
                                            BodyHandlers.ofString())));
        }

        private interface Question {
            HttpResponse<String> ask() throws Exception;
        }

        private void ask(Question question) {
            while (!stopped.get()) {
                try {
                    assertEquals(200, question.ask().statusCode());
                    answered.incrementAndGet();
                } catch (Throwable e) {
                    failures.add(e);
                    return;
                }
            }
        }

        int answered() {
            return answered.get();
        }

        Queue<Throwable> failures() {
            return failures;
        }

        @Override
        public void close() {
            stopped.set(true);
            threads.close();
        }
    }
}
