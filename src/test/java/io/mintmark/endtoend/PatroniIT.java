package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * A Patroni cluster with a synchronous standby loses its primary under 50 requests a second. Run by
 * {@code .ci/ha}, which installs what it needs; docs/capacity.md has the figures.
 */
class PatroniIT {
    private static final Duration PACE = Duration.ofMillis(20);
    private static final Duration RECOVERED = Duration.ofMinutes(1);

    @TempDir static Path directory;

    @AutoClose private static final IssuerStandIn issuer = IssuerStandIn.start();
    @AutoClose private static PatroniCluster cluster;
    private static int cases;

    enum Fault {
        SWITCHOVER,
        KILL,
        PARTITION
    }

    /**
     * A request and what became of it.
     *
     * @param begun before it was sent
     */
    private record Asked(
            boolean revoked, Instant begun, Instant answered, int status, String requestId) {
        boolean isMinted() {
            return status == 200;
        }
    }

    @BeforeAll
    static void start() throws Exception {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        cluster = new PatroniCluster(directory);
        PostgresCluster primary = cluster.leader().database();
        ServedCluster.prepare(primary);
        primary.run(
                """
                ALTER ROLE test_app SET search_path = pg_catalog, pg_temp;
                ALTER ROLE test_app SET synchronous_commit = on;
                ALTER ROLE test_app SET statement_timeout = '5s';
                ALTER ROLE test_app SET lock_timeout = '4s';
                ALTER ROLE test_app SET idle_in_transaction_session_timeout = '10s';
                """);
        RunningBroker.at(cluster.url(), Map.of()).close(); // migrates
        ServedCluster.tenant(primary, issuer, "stays");
    }

    @ParameterizedTest
    @CsvSource({
        "SWITCHOVER, false",
        "KILL, false",
        "PARTITION, false",
        "SWITCHOVER, true",
        "KILL, true",
        "PARTITION, true"
    })
    void no_mint_is_lost_or_follows_its_revocation(Fault fault, boolean pooled) throws Exception {
        cases++;
        String goes = "goes-" + cases;
        ServedCluster.grant(cluster.leader().database(), goes);
        Map<String, String> settings = pooled ? Map.of("DATABASE_MIGRATE", "false") : Map.of();
        String url = pooled ? cluster.pooledUrl() : cluster.url();
        List<Asked> asked;
        Instant revoked;
        Instant faulted;
        try (RunningBroker broker = RunningBroker.at(url, settings);
                Load load = new Load(broker, goes)) {
            load.awaitMints(100);
            PatroniCluster.Node leader = cluster.leader();
            leader.database()
                    .run("DELETE FROM broker.subject_grant WHERE subject = '%s'".formatted(goes));
            revoked = Instant.now();
            faulted = revoked;
            switch (fault) {
                case SWITCHOVER -> cluster.switchOver();
                case KILL -> leader.kill();
                case PARTITION -> leader.partition();
            }
            cluster.awaitLeaderOtherThan(leader);
            load.awaitMints(100);
            switch (fault) {
                case SWITCHOVER -> {}
                case KILL -> leader.startAgain();
                case PARTITION -> leader.heal();
            }
            cluster.awaitReady();
            load.awaitMints(100);
            asked = load.stop();
        }
        Duration without = longestWithoutMint(asked, faulted);
        System.out.printf(
                "%s%s: %d requests, %d mints, none for %d ms at most, slowest answer %d ms%n",
                fault,
                pooled ? " through PgBouncer" : "",
                asked.size(),
                asked.stream().filter(Asked::isMinted).count(),
                without.toMillis(),
                asked.stream()
                        .mapToLong(
                                each -> Duration.between(each.begun(), each.answered()).toMillis())
                        .max()
                        .orElseThrow());
        assertTrue(without.compareTo(RECOVERED) < 0, without::toString);
        assertEquals(
                List.of(),
                asked.stream()
                        .filter(each ->
                                each.revoked() && each.isMinted() && each.begun().isAfter(revoked))
                        .toList(),
                "minted after the revocation");
        assertEquals(Set.of(), missing(asked), "handed out, and not in the log");
        verifies(cluster.leader());
        verifies(cluster.standby());
    }

    private static void verifies(PatroniCluster.Node node) {
        Map.Entry<Integer, String> verified =
                ServedCluster.command(node.database().url(), "test_auditor", "audit", "verify");
        assertEquals(0, verified.getKey(), verified.getValue());
    }

    private static Duration longestWithoutMint(List<Asked> asked, Instant from) {
        List<Instant> minted =
                new ArrayList<>(
                        asked.stream()
                                .filter(Asked::isMinted)
                                .map(Asked::answered)
                                .filter(from::isBefore)
                                .sorted()
                                .toList());
        minted.addFirst(from);
        Duration longest = Duration.ZERO;
        for (int i = 1; i < minted.size(); i++) {
            Duration between = Duration.between(minted.get(i - 1), minted.get(i));
            longest = between.compareTo(longest) > 0 ? between : longest;
        }
        return longest;
    }

    private static Set<String> missing(List<Asked> asked) {
        Set<String> missing =
                asked.stream()
                        .filter(Asked::isMinted)
                        .map(Asked::requestId)
                        .collect(Collectors.toCollection(TreeSet::new));
        cluster.leader()
                .database()
                .column("SELECT request_id FROM audit.event WHERE kind = 'issued'")
                .forEach(missing::remove);
        return missing;
    }

    /**
     * Requests at a steady pace, however long the answers take; each tenth for the other subject.
     */
    private static final class Load implements AutoCloseable {
        private static final int OF_THE_OTHER = 10;

        private final RunningBroker broker;
        private final String stays = issuer.sign("stays", "mintmark-acme");
        private final String goes;
        private final Queue<Asked> asked = new ConcurrentLinkedQueue<>();
        private final AtomicBoolean goOn = new AtomicBoolean(true);
        private final ExecutorService requests = Executors.newVirtualThreadPerTaskExecutor();

        Load(RunningBroker broker, String goes) {
            this.broker = broker;
            this.goes = issuer.sign(goes, "mintmark-acme");
            requests.execute(this::run);
        }

        private void run() {
            long next = System.nanoTime();
            for (int n = 0; goOn.get(); n++) {
                boolean other = n % OF_THE_OTHER == 0;
                requests.execute(() -> ask(other));
                next += PACE.toNanos();
                LockSupport.parkNanos(next - System.nanoTime());
            }
        }

        private void ask(boolean other) {
            Instant begun = Instant.now();
            Answer answer = broker.mint(other ? goes : stays, "api");
            asked.add(
                    new Asked(
                            other,
                            begun,
                            Instant.now(),
                            answer.status(),
                            answer.header("X-Request-ID")));
        }

        void awaitMints(int more) {
            long before = minted();
            Eventually.holds(() -> minted() >= before + more);
        }

        private long minted() {
            return asked.stream().filter(Asked::isMinted).count();
        }

        List<Asked> stop() {
            goOn.set(false);
            requests.close();
            return List.copyOf(asked);
        }

        @Override
        public void close() {
            goOn.set(false);
            requests.close();
        }
    }
}
