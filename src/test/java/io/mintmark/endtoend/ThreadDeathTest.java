package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.Authority;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.thread.ThreadName;
import io.mintmark.broker.identity.IdpStandIn;
import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** What a process does when one of its threads dies of an error, wherever that thread is. */
@Tag("heavy")
@EnabledOnOs(OS.LINUX)
class ThreadDeathTest {
    private static final Duration SOON = Duration.ofSeconds(5);

    /** Threads of the JVM and of libraries. */
    private static final Set<String> OF_OTHERS =
            Set.of(
                    "Cleaner-",
                    "Common-Cleaner",
                    "DestroyJavaVM",
                    "Finalizer",
                    "ForkJoinPool",
                    "MasterPoller",
                    "Native reference cleanup thread", // of the native signatures
                    "Notification Thread",
                    "PostgreSQL-JDBC-Cleaner",
                    "Reference Handler",
                    "Signal Dispatcher",
                    "VirtualThread-unblocker",
                    "helidon-",
                    "mintmark:", // of the pool of connections
                    "process reaper",
                    "server-", // Helidon's listeners
                    "start @");

    private final TestDatabase database = TestDatabase.migrated();
    private final IdpStandIn idp = IdpStandIn.start();
    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final Authority authority = new Authority();
    private final HttpClient http = client(authority);
    private final int adminPort = RunningBroker.freePort();
    private final int port = RunningBroker.freePort();
    private BrokerProcess broker;
    private Debugger debugger;

    @TempDir private Path directory;

    @BeforeEach
    void start() throws Exception {
        int debugPort = RunningBroker.freePort();
        Map<String, String> environment = new HashMap<>(RunningBroker.environment(database, port));
        environment.put("ADMIN_PORT", Integer.toString(adminPort));
        // so that every background thread is there
        Path certificate = directory.resolve("tls.crt");
        Path key = directory.resolve("tls.key");
        authority.write("localhost", certificate, key);
        environment.put("ADMIN_TLS_CERTIFICATE_FILE", certificate.toString());
        environment.put("ADMIN_TLS_KEY_FILE", key.toString());
        environment.putAll(
                new WitnessSettings(directory, "localhost:" + port)
                        .settings(WitnessSettings.line("one", 1) + "quorum one"));
        environment.put("BROKER_IDP_TYPE", "client-credentials");
        environment.put("BROKER_IDP_ISSUER", idp.url());
        environment.put("BROKER_IDP_CLIENT_ID", IdpStandIn.CLIENT);
        environment.put("BROKER_IDP_CLIENT_SECRET", IdpStandIn.SECRET);
        broker =
                new BrokerProcess(
                        List.of(Debugger.option(debugPort), Sabotaged.class.getName()),
                        environment,
                        directory);
        broker.awaits(this::isReady);
        database.admin(World.tenant(issuer.url(), "http://127.0.0.1:1"));
        // the first mint starts the last thread
        Eventually.holds(() -> send(mint()).statusCode() == 200);
        debugger = new Debugger(debugPort);
    }

    @AfterEach
    void stop() {
        debugger.close();
        broker.kill();
        http.close();
        idp.close();
        issuer.close();
        database.close();
    }

    @Test
    void one_that_dies_of_an_error_fails_liveness_by_its_name_within_five_seconds() {
        assertEquals(names(), checks("UP"));

        Set<String> dead = new TreeSet<>();
        List<Duration> taken = new ArrayList<>();
        for (ThreadName name : ThreadName.values()) {
            debugger.sabotage(name.toString(), "STACK_OVERFLOW");
            dead.add(name.toString());
            taken.add(Latency.until(() -> checks("DOWN").equals(dead)));
            assertEquals(503, ask(adminPort, "/observe/health/live").statusCode());
            assertEquals(503, ask(adminPort, "/observe/health/live/" + name).statusCode());
            assertTrue(counted(name, 1), () -> "not counted: " + name);
            assertTrue(broker.log().contains("'" + name + "' died"), broker::log);
        }
        // a loaded machine may delay two
        taken.sort(Comparator.naturalOrder());
        assertTrue(taken.get(taken.size() - 3).compareTo(SOON) < 0, taken::toString);
    }

    /**
     * With status 3, or 134 if the JDK's debugger agent, which only this test has, crashes at the
     * end.
     */
    @Test
    void one_that_runs_out_of_memory_ends_the_process() {
        debugger.sabotage("housekeeping", "OUT_OF_MEMORY");

        int status = broker.status();
        assertTrue(status == 3 || status == 134, "status " + status);
        assertTrue(broker.log().contains("'housekeeping' died"), broker::log);
    }

    @Test
    void a_replica_whose_writer_died_refuses_mints_and_lists_and_says_when_to_come_again() {
        debugger.sabotage("audit-writer", "STACK_OVERFLOW");
        Eventually.holds(() -> checks("DOWN").contains("audit-writer"));

        for (HttpRequest.Builder request :
                AllDoors.requests(URI.create("http://localhost:" + port), "no.token.there")) {
            HttpResponse<String> answer = send(request);
            assertEquals(503, answer.statusCode(), answer::body);
        }
        assertTrue(
                send(HttpRequest.newBuilder(
                                URI.create("http://localhost:%d/health".formatted(port))))
                        .body()
                        .contains("writer"));
    }

    @Test
    void every_platform_thread_is_supervised_or_a_librarys() {
        Set<String> unknown =
                debugger.threads().stream()
                        .filter(name -> !names().contains(name))
                        .filter(name -> OF_OTHERS.stream().noneMatch(name::startsWith))
                        .collect(Collectors.toSet());

        assertEquals(Set.of(), unknown);
        assertFalse(debugger.threads().isEmpty());
    }

    private HttpRequest.Builder mint() {
        return HttpRequest.newBuilder(
                        URI.create("http://localhost:%d/credentials/mint".formatted(port)))
                .header("Authorization", "Bearer " + issuer.sign(World.SUBJECT, World.AUDIENCE))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"keys\":[\"api\"]}"));
    }

    private static HttpClient client(Authority authority) {
        return Unchecked.call(() -> HttpClient.newBuilder().sslContext(authority.client()).build());
    }

    private static Set<String> names() {
        return Stream.of(ThreadName.values())
                .map(ThreadName::toString)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private boolean isReady() {
        try {
            return ask(adminPort, "/observe/health/ready").statusCode() < 300;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    /** The names of the checks of liveness with this status. */
    private Set<String> checks(String status) {
        JsonNode checks = new Answer(ask(adminPort, "/observe/health/live")).body().path("checks");
        return StreamSupport.stream(checks.spliterator(), false)
                .filter(check -> check.path("status").asText().equals(status))
                .map(check -> check.path("name").asText())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private boolean counted(ThreadName name, int times) {
        return ask(adminPort, "/observe/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("mintmark_thread_deaths_total{"))
                .filter(line -> line.contains("thread=\"" + name + "\""))
                .allMatch(line -> line.endsWith(" " + times + ".0"));
    }

    private HttpResponse<String> ask(int at, String path) {
        return send(
                HttpRequest.newBuilder(URI.create("https://localhost:%d%s".formatted(at, path)))
                        .header("Accept", "*/*"));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) {
        return Unchecked.call(() ->
                http.send(
                        request.timeout(Eventually.PATIENCE).build(),
                        HttpResponse.BodyHandlers.ofString()));
    }
}
