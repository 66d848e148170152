package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.AuditCommand;
import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * A streaming standby is promoted while clients mint; docs/run/restore.md has the figures. Run by
 * {@code .ci/restore}, since it needs PostgreSQL's own programs.
 */
class FailoverIT {
    private static final int CLIENTS = 4;
    private static final String KEPT =
            """
            SELECT json_build_object('checkpoint', number, 'sealed_at', sealed_at, 'jws', jws)
              FROM audit.checkpoint ORDER BY number
            """;

    @TempDir private Path directory;

    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final Set<String> handedOut = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean goOn = new AtomicBoolean(true);
    private volatile Instant lastMint = Instant.MIN;
    private volatile Instant firstAfter = Instant.MAX;
    private volatile boolean promoting;
    private PostgresCluster primary;
    private PostgresCluster standby;

    @BeforeEach
    void aPrimaryAndItsStandby() {
        primary = PostgresCluster.created(directory.resolve("primary"));
        primary.start(Map.of("wal_level", "replica"));
        ServedCluster.prepare(primary);
        standby = primary.copied(directory.resolve("standby"), "-R", "-X", "stream");
        standby.start(Map.of());
        Eventually.holds(() ->
                primary.column("SELECT state FROM pg_stat_replication")
                        .equals(List.of("streaming")));
    }

    @AfterEach
    void stop() {
        standby.close();
        primary.close();
        issuer.close();
    }

    @Test
    void with_a_synchronous_standby_nothing_that_left_the_broker_is_missing_after_a_promotion() {
        primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
        primary.run("SELECT pg_reload_conf()");
        try (RunningBroker broker = RunningBroker.at(both(), Map.of())) {
            ServedCluster.tenant(primary, issuer, "stays", "goes");
            Eventually.holds(() -> ServedCluster.mint(broker, issuer, "stays") == 200);
            assertEquals(200, ServedCluster.mint(broker, issuer, "goes"));
            promoteUnderLoad(broker);
            assertEquals(403, ServedCluster.mint(broker, issuer, "goes"), "revoked before");
        }
        assertEquals(Set.of(), missing(), "handed out, and not in the log");
        Map.Entry<Integer, String> verified =
                ServedCluster.command(standby.url(), "test_auditor", "audit", "verify");
        assertEquals(0, verified.getKey(), verified.getValue());
    }

    /** A standby can neither lock rows nor make temporary tables. */
    @Test
    void the_log_is_verified_on_the_standby() throws IOException {
        try (RunningBroker broker = RunningBroker.at(primary.url(), Map.of())) {
            ServedCluster.tenant(primary, issuer, "stays");
            Eventually.holds(() -> ServedCluster.mint(broker, issuer, "stays") == 200);
        }
        String end = primary.value("SELECT pg_current_wal_lsn()");
        Eventually.holds(() ->
                standby.column("SELECT pg_last_wal_replay_lsn() >= '%s'".formatted(end))
                        .equals(List.of("t")));
        Path kept = directory.resolve("kept.jsonl");
        Files.write(kept, standby.column(KEPT));
        Map.Entry<Integer, String> verified =
                ServedCluster.command(
                        standby.url(),
                        "test_auditor",
                        "audit",
                        "verify",
                        "--checkpoints",
                        kept.toString());
        standby.assertRows("SELECT pg_is_in_recovery()", "t");
        assertEquals(0, verified.getKey(), verified.getValue());
        assertTrue(verified.getValue().contains("nothing is missing"), verified.getValue());
    }

    @Test
    void without_its_synchronous_standby_nothing_is_handed_out_until_it_is_back() {
        primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
        primary.run("SELECT pg_reload_conf()");
        try (RunningBroker broker = RunningBroker.at(primary.url(), Map.of())) {
            ServedCluster.tenant(primary, issuer, "stays");
            Eventually.holds(() -> ServedCluster.mint(broker, issuer, "stays") == 200);
            standby.stopImmediately();
            assertEquals(503, ServedCluster.mint(broker, issuer, "stays"));
            standby.start(Map.of());
            Eventually.holds(() -> ServedCluster.mint(broker, issuer, "stays") == 200);
        }
    }

    @Test
    void what_an_asynchronous_standby_had_not_received_is_lost_and_can_be_declared()
            throws IOException {
        Path kept = directory.resolve("kept.jsonl");
        RunningBroker other = RunningBroker.at(primary.url(), Map.of());
        try (RunningBroker broker = RunningBroker.at(both(), Map.of("AUDIT_ON_LOSS", "alert"))) {
            ServedCluster.tenant(primary, issuer, "stays", "goes");
            Eventually.holds(() -> ServedCluster.mint(broker, issuer, "goes") == 200);
            Eventually.holds(this::standbyHasAll);
            standby.stopImmediately();
            primary.run("DELETE FROM broker.subject_grant WHERE subject = 'goes'");
            assertEquals(403, ServedCluster.mint(broker, issuer, "goes"), "revoked on the primary");
            assertEquals(200, ServedCluster.mint(broker, issuer, "stays"));
            sealAll(other, kept);
            primary.stopImmediately();
            standby.start(Map.of());
            standby.promote();
            Eventually.holds(() -> ServedCluster.mint(broker, issuer, "stays") == 200);
            assertEquals(200, ServedCluster.mint(broker, issuer, "goes"), "the revocation is lost");
            assertEquals(1, losses(broker), "counted, for the alert");
        }
        assertEquals(1, verification(kept).getKey(), "rows are missing that were sealed");
        Map.Entry<Integer, String> lost =
                audit("test_app", "restored", "--checkpoints", kept.toString());
        assertEquals(1, lost.getKey(), lost.getValue());
        Map.Entry<Integer, String> declared =
                audit(
                        "test_app",
                        "declare-gap",
                        "--checkpoints",
                        kept.toString(),
                        "--reason",
                        "promoted, ticket 4711",
                        "--answered",
                        AuditCommand.answered(lost.getValue()));
        assertEquals(0, declared.getKey(), declared.getValue());
        Map.Entry<Integer, String> named = verification(kept);
        assertEquals(3, named.getKey(), named.getValue());
        assertTrue(named.getValue().contains("promoted, ticket 4711"), named.getValue());
        assertTrue(named.getValue().contains("Declared lost: rows"), named.getValue());
        String hash = named.getValue().replaceAll("(?s).*--accept-gap ([0-9a-f]{64}).*", "$1");
        Map.Entry<Integer, String> accepted = verification(kept, "--accept-gap", hash);
        assertEquals(0, accepted.getKey(), accepted.getValue());
    }

    /** For JDBC: whichever of both takes writes. */
    private String both() {
        return "jdbc:postgresql://%s,%s/postgres?targetServerType=primary"
                .formatted(primary.address(), standby.address());
    }

    private boolean standbyHasAll() {
        return primary.column("SELECT replay_lsn = pg_current_wal_lsn() FROM pg_stat_replication")
                .equals(List.of("t"));
    }

    private static long losses(RunningBroker broker) {
        URI address =
                URI.create("http://localhost:%d/observe/metrics".formatted(broker.adminPort()));
        return broker.send(HttpRequest.newBuilder(address).header("Accept", "text/plain").GET())
                .response()
                .body()
                .lines()
                .filter(line ->
                        line.matches(
                                "mintmark_audit_losses_total\\{cause=\"promotion\".* 1(\\.0)?"))
                .count();
    }

    /** Another replica stops in order, which seals; its checkpoints are kept. */
    private void sealAll(RunningBroker other, Path kept) throws IOException {
        other.close();
        Files.write(kept, primary.column(KEPT));
    }

    private Map.Entry<Integer, String> audit(String login, String... arguments) {
        return ServedCluster.command(
                standby.url(),
                login,
                Stream.concat(Stream.of("audit"), Stream.of(arguments)).toArray(String[]::new));
    }

    private Map.Entry<Integer, String> verification(Path kept, String... further) {
        return audit(
                "test_auditor",
                Stream.concat(
                                Stream.of("verify", "--checkpoints", kept.toString()),
                                Stream.of(further))
                        .toArray(String[]::new));
    }

    private void promoteUnderLoad(RunningBroker broker) {
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int n = 0; n < CLIENTS; n++) {
                clients.execute(() -> mintOn(broker));
            }
            try {
                promote();
            } finally {
                goOn.set(false);
            }
        }
    }

    private void promote() {
        Eventually.holds(() -> handedOut.size() > 100);
        primary.run("DELETE FROM broker.subject_grant WHERE subject = 'goes'");
        primary.stopImmediately();
        promoting = true;
        standby.promote();
        Instant promoted = Instant.now();
        Eventually.holds(() -> firstAfter.isBefore(Instant.MAX));
        int before = handedOut.size();
        Eventually.holds(() -> handedOut.size() > before + 100);
        Duration afterwards = Duration.between(promoted, firstAfter);
        System.out.printf(
                "mints were refused for %d ms, until %d ms after the promotion%n",
                Duration.between(lastMint, firstAfter).toMillis(), afterwards.toMillis());
        assertTrue(afterwards.compareTo(Duration.ofSeconds(10)) < 0, afterwards::toString);
    }

    /** One client: as fast as answers come. */
    private void mintOn(RunningBroker broker) {
        while (goOn.get()) {
            Answer answer = broker.mint(issuer.sign("stays", "mintmark-acme"), "api");
            if (answer.status() == 200) {
                handedOut.add(answer.header("X-Request-ID"));
                note(Instant.now());
            }
        }
    }

    private synchronized void note(Instant minted) {
        if (!promoting) {
            lastMint = minted;
        } else if (firstAfter.equals(Instant.MAX)) {
            firstAfter = minted;
        }
    }

    /**
     * The requests that were answered with a credential and that the log doesn't have as issued.
     */
    private Set<String> missing() {
        Set<String> missing = new TreeSet<>(handedOut);
        standby.column("SELECT request_id FROM audit.event WHERE kind = 'issued'")
                .forEach(missing::remove);
        return missing;
    }
}
