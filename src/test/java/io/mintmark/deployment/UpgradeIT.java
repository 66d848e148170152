package io.mintmark.deployment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * An upgrade of two replicas of the packed program behind nginx, while clients mint. Run by {@code
 * .ci/upgrade}, which packs it.
 */
class UpgradeIT {
    private static final Path PACKED = Path.of(System.getProperty("upgrade.packed", "target"));
    private static final Duration TIMEOUT = Eventually.PATIENCE;
    private static final int MINTS = 200;

    @TempDir private Path directory;

    /** One of the two, whichever program it runs at the moment. */
    private final class Place implements AutoCloseable {
        private final Site site;
        private final Site.Ports ports;
        private Replica replica;

        Place(Site site, Site.Ports ports, Path program) {
            this.site = site;
            this.ports = ports;
            this.replica = start(program);
        }

        private Replica start(Path program) {
            Map<String, String> environment = new HashMap<>(site.environment(ports));
            environment.put("SERVER_DRAIN", "PT5S");
            environment.put("TRUSTED_PROXIES", "127.0.0.0/8");
            Replica started = launch(program, environment);
            while (!started.comesToAnswer()) {
                started = launch(program, environment);
            }
            return started;
        }

        /** Repeated as systemd and Kubernetes do: the database may be busy for a second. */
        private Replica launch(Path program, Map<String, String> environment) {
            return Replica.start(
                    List.of(program.toAbsolutePath().toString()),
                    environment,
                    ports.open(),
                    directory.resolve("log-" + ports.open()));
        }

        void change(Path program) {
            assertEquals(143, replica.stop());
            replica = start(program);
        }

        /** Until the proxy has found out that it is there again: only then may the other go. */
        void awaitMints() {
            Eventually.holds(
                    TIMEOUT,
                    () ->
                            metrics()
                                    .anyMatch(line ->
                                            line.startsWith("mintmark_mints_total{")
                                                    && !line.endsWith(" 0.0")));
        }

        String version() {
            return metrics()
                    .filter(line -> line.startsWith("mintmark_build_info"))
                    .map(line -> line.replaceAll(".*[{,]version=\"([^\"]*)\".*", "$1"))
                    .findFirst()
                    .orElseThrow();
        }

        private Stream<String> metrics() {
            URI metrics =
                    URI.create("http://localhost:%d/observe/metrics".formatted(ports.admin()));
            try (var in = metrics.toURL().openStream()) {
                return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() {
            replica.close();
        }
    }

    @Test
    void no_request_is_lost_while_both_replicas_are_upgraded_and_one_is_taken_back()
            throws Exception {
        Path now = PACKED.resolve("mintmark");
        Path next = NextVersion.of(PACKED, directory.resolve("next"));
        int port = RunningBroker.freePort();
        try (Site site = new Site("http://localhost:" + port)) {
            List<String> before = schema(site);
            upgrade(
                    site,
                    port,
                    now,
                    next,
                    (first, second, clients) -> {
                        assertEquals(NextVersion.NUMBER, first.version());
                        assertEquals(NextVersion.NUMBER, second.version());
                        first.change(now);
                        first.awaitMints();
                        clients.awaitMore(MINTS);
                        assertTrue(!first.version().equals(NextVersion.NUMBER), first.version());
                    });
            assertTrue(!schema(site).equals(before), "the schema is of the same release");
            assertEquals( // as an auditor, who had the privilege on the view that was dropped
                    List.of(), site.database().column("SELECT added FROM audit.denial LIMIT 0"));
        }
    }

    /** {@code .ci/upgrade history} packs them. */
    static Stream<Path> earlier() {
        return Stream.of(System.getProperty("upgrade.earlier").split(",", -1)).map(Path::of);
    }

    @ParameterizedTest
    @MethodSource("earlier")
    @EnabledIfSystemProperty(named = "upgrade.earlier", matches = ".+")
    void no_request_is_lost_while_the_schema_and_replicas_of_an_earlier_commit_are_upgraded(
            Path packed) throws Exception {
        Path before = packed.resolve("mintmark");
        int port = RunningBroker.freePort();
        TestDatabase database = TestDatabase.unmigrated();
        migrate(database, before);
        try (Site site = new Site("http://localhost:" + port, database)) {
            upgrade(site, port, before, PACKED.resolve("mintmark"), (_, _, _) -> {});
        }
    }

    /** Steps of a test after both replicas run the new program, while the clients still mint. */
    private interface Afterwards {
        void run(Place first, Place second, SteadyClients clients);
    }

    private void upgrade(Site site, int port, Path before, Path after, Afterwards then)
            throws Exception {
        Site.Ports one = Site.Ports.free();
        Site.Ports other = Site.Ports.free();
        try (Place first = new Place(site, one, before);
                Place second = new Place(site, other, before);
                DocumentedFront front =
                        DocumentedFront.start(
                                Files.createTempDirectory(directory, "nginx"),
                                port,
                                one.open(),
                                other.open());
                SteadyClients clients = new SteadyClients(front.url(), site.token())) {
            clients.awaitMore(MINTS);
            migrate(site.database(), after);
            clients.awaitMore(MINTS);
            for (Place place : List.of(first, second)) {
                place.change(after);
                place.awaitMints();
                clients.awaitMore(MINTS);
            }
            then.run(first, second, clients);
            clients.finish();

            assertEquals(List.of(), clients.failures());
            everyAnswerIsOnRecordOnce(site, clients.answered());
        }
    }

    private void migrate(TestDatabase database, Path program) throws Exception {
        Path log = Files.createTempFile(directory, "migration", ".log");
        ProcessBuilder builder =
                new ProcessBuilder(program.toAbsolutePath().toString(), "migrate")
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile());
        builder.environment()
                .putAll(
                        Map.of(
                                "DATABASE_URL", database.url(),
                                "DATABASE_USERNAME", Who.OWNER.login(),
                                "DATABASE_PASSWORD", database.password()));
        int status = builder.start().waitFor();
        String printed = Files.readString(log);
        assertEquals(0, status, printed);
        assertTrue(printed.contains(" migrations ran"), printed);
        assertTrue(!printed.contains("; 0 migrations ran"), printed);
    }

    private static List<String> schema(Site site) {
        return site.database().column("SELECT version::text FROM runtime.schema_version");
    }

    private static void everyAnswerIsOnRecordOnce(Site site, Set<String> answered) {
        Eventually.holds(TIMEOUT, () -> site.database().column("TABLE audit.unresolved").isEmpty());
        List<String> issued =
                site.database().column("SELECT request_id FROM audit.event WHERE kind = 'issued'");

        assertEquals(new TreeSet<>(answered), new TreeSet<>(issued));
        assertEquals(answered.size(), issued.size());
    }
}
