package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.Unchecked;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.provider.sts.StsAnswer;
import io.mintmark.provider.x509.Ca;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A real Prometheus with the rules of docs/monitoring/rules.yml scrapes a replica: each incident
 * fires its alerts and no others. A minute of the rules is a second here, an hour a minute.
 */
class AlertsIT {
    /**
     * What {@code promtool test rules} alone shows: hours, a lack of memory or files, a crash, the
     * console's, whose port {@code ConsoleAdminPortTest} reads.
     */
    private static final Set<String> BY_PROMTOOL_ALONE =
            Set.of(
                    "MintmarkAuditRowsLost",
                    "MintmarkConnectionsWait",
                    "MintmarkConsoleDown",
                    "MintmarkConsoleFails",
                    "MintmarkConsoleLoginsFail",
                    "MintmarkConsoleSlow",
                    "MintmarkEndingsOverdue",
                    "MintmarkFilesRunOut",
                    "MintmarkInternalErrors",
                    "MintmarkKeyOld",
                    "MintmarkLatencyBudgetBurns",
                    "MintmarkNoticesDropped",
                    "MintmarkQueueGrows",
                    "MintmarkSlow",
                    "MintmarkThreadDied",
                    "MintmarkThreadStandsStill",
                    "MintmarkUnresolvedMints");

    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @TempDir private Path directory;

    private final Set<String> shown = new TreeSet<>();
    private final AtomicBoolean open = new AtomicBoolean(true);
    private final AtomicBoolean proxied = new AtomicBoolean();
    private World world;
    private IssuerStandIn other;
    private Prometheus prometheus;
    private Thread traffic;

    @BeforeEach
    void start() throws Exception {
        certificate(Duration.ofDays(30));
        world =
                new World(
                        Map.of(
                                "ADMIN_TLS_CERTIFICATE_FILE", file("tls.crt").toString(),
                                "ADMIN_TLS_KEY_FILE", file("tls.key").toString()));
        other = IssuerStandIn.start();
        world.admin(
                """
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('other', 'acme', '%s', '{mintmark-acme}');
                INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, break_glass)
                VALUES ('acme', 'spare', 'ci', 'ci:main', 'exact', 0, 7200, true);
                """
                        .formatted(other.url()));
        Eventually.holds(() -> world.broker().mint(world.token(), "deploy", "api").status() == 200);
        traffic = Thread.ofPlatform().start(this::requests);
        prometheus = new Prometheus(directory, rules(), world.broker().adminPort());
        Eventually.holds(() -> !prometheus.query("up == 1").isEmpty());
    }

    private Path file(String name) {
        return directory.resolve(name);
    }

    private void certificate(Duration validFor) throws IOException {
        Ca ca = Ca.of("EC", validFor);
        Files.writeString(file("tls.key"), ca.key());
        Files.writeString(file("tls.crt"), ca.certificate());
    }

    /** Clients of the usual issuer, and one in ten of the other. */
    private void requests() {
        for (int i = 0; open.get(); i++) {
            IssuerStandIn issuer = i % 10 == 9 ? other : world.issuer();
            String token = issuer.sign(World.SUBJECT, World.AUDIENCE);
            world.broker().mint(token, i % 2 == 0 ? "api" : "deploy");
            if (proxied.get()) {
                world.broker().get("/nothing", "X-Forwarded-For", "198.51.100.1");
            }
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
    }

    private void endTraffic() {
        open.set(false);
        Unchecked.run(traffic::join);
    }

    @AfterEach
    void stop() {
        endTraffic();
        prometheus.close();
        world.close();
        other.close();
    }

    private static String rules() throws IOException {
        String rules = Files.readString(Path.of("docs/monitoring/rules.yml"));
        String scaled =
                Pattern.compile("\\b(\\d+)([mh])(?=[])\\n])")
                        .matcher(rules)
                        .replaceAll(time -> time.group(1) + (time.group(2).equals("h") ? "m" : "s"))
                        // a busy machine lets some scrapes time out
                        .replaceAll("for: [1-4]s", "for: 5s");
        return replaced(
                // checkpoints are a minute apart
                replaced(scaled, "mintmark_checkpoint_age_seconds) > 300", " > 90"),
                "mintmark_issuer_failing_seconds) > 600",
                " > 10");
    }

    private static String replaced(String rules, String condition, String threshold) {
        assertTrue(rules.contains(condition), condition);
        return rules.replace(condition, condition.replaceAll(" > \\d+$", threshold));
    }

    /** An incident: what happens, what it fires, and how it ends. */
    private void fires(Runnable incident, Runnable end, String... alerts) {
        Eventually.holds(PATIENCE, prometheus::firing, Set.of()::equals);
        long began = System.nanoTime();
        Set<String> expected = new TreeSet<>(Set.of(alerts));
        incident.run();
        Eventually.holds(PATIENCE, () -> firedSince(began), fired -> fired.containsAll(expected));
        // whatever else would fire has time to
        LockSupport.parkNanos(Duration.ofSeconds(5).toNanos());
        assertEquals(expected, firedSince(began));
        shown.addAll(expected);
        end.run();
    }

    private Set<String> firedSince(long began) {
        return prometheus.fired(Duration.ofNanos(System.nanoTime() - began).plusSeconds(1));
    }

    @Test
    void each_incident_fires_its_alerts_and_no_others() throws Exception {
        nothingFiresWhileAllIsWell();
        whatATenantCausesPagesNobody();
        whatClientsCause();
        certificates();
        theLogRefusesRows();
        theLogIsNotSealed();
        theReplicaIsGone();
        Set<String> missing = all();
        missing.removeAll(shown);
        assertEquals(new TreeSet<>(BY_PROMTOOL_ALONE), missing);
    }

    private void nothingFiresWhileAllIsWell() {
        LockSupport.parkNanos(Duration.ofSeconds(15).toNanos());
        assertEquals(Set.of(), prometheus.fired(Duration.ofSeconds(15)));
    }

    private void whatATenantCausesPagesNobody() {
        fires(
                () -> {
                    other.goDown();
                    other.rotate(); // a key id that has to be fetched
                    world.sts().always(new StsAnswer.Refusing(403, "AccessDenied", "no"));
                },
                () -> {
                    assertLabels("MintmarkIssuerFails", "severity", "ticket");
                    assertLabels("MintmarkIssuerFails", "tenant", "acme");
                    assertLabels("MintmarkIssuerFails", "issuer", other.url());
                    assertLabels("MintmarkTenantFails", "tenant", "acme");
                    assertLabels("MintmarkTenantFails", "severity", "ticket");
                    assertLabels("MintmarkProviderFails", "type", "aws-sts");
                    other.comeBack();
                    world.sts().always(new StsAnswer.AsAsked());
                },
                "MintmarkIssuerFails",
                "MintmarkKeySetsFail",
                "MintmarkProviderFails",
                "MintmarkTenantFails");
    }

    private void assertLabels(String alert, String label, String value) {
        List<JsonNode> labels = prometheus.labels(alert);
        assertEquals(
                List.of(value),
                labels.stream().map(one -> one.path(label).asText()).toList(),
                alert);
    }

    private void whatClientsCause() {
        fires(
                () -> {
                    breakGlass();
                    world.admin("UPDATE broker.tenant SET max_requests = 1 WHERE name = 'acme'");
                    proxied.set(true);
                },
                () -> {
                    proxied.set(false);
                    world.admin("UPDATE broker.tenant SET max_requests = NULL WHERE name = 'acme'");
                },
                "MintmarkBreakGlass",
                "MintmarkForwardingIgnored",
                "MintmarkRateLimited");
    }

    private void breakGlass() {
        Answer answer =
                world.broker()
                        .send(
                                world.broker()
                                        .request("/access-requests")
                                        .header("Content-Type", "application/json")
                                        .header("Authorization", "Bearer " + world.token())
                                        .POST(
                                                BodyPublishers.ofString(
                                                        """
                                                        {"keys": ["spare"], "seconds": 900, "reason": "The export is stuck"}
                                                        """)));
        assertEquals(202, answer.status(), answer::toString);
    }

    private void certificates() {
        fires(
                () -> Unchecked.run(() -> certificate(Duration.ofDays(1))),
                () -> Unchecked.run(() -> certificate(Duration.ofDays(30))),
                "MintmarkCertificateExpires",
                "MintmarkPortCertificateExpires");
        fires(
                () -> Unchecked.run(() -> Files.writeString(file("tls.crt"), "garbage")),
                () -> Unchecked.run(() -> certificate(Duration.ofDays(30))),
                "MintmarkFileRefused");
    }

    private void theLogRefusesRows() {
        fires(
                () -> refuse("event"),
                () -> world.database().runAsSuperuser("DROP TRIGGER refuse ON audit.event"),
                "MintmarkAnswersErrors",
                "MintmarkAuditLogFails",
                "MintmarkBudgetBurns",
                "MintmarkReplicaUnhealthy",
                "MintmarkUnhealthy");
    }

    private void theLogIsNotSealed() {
        fires(
                () -> refuse("checkpoint"),
                () -> world.database().runAsSuperuser("DROP TRIGGER refuse ON audit.checkpoint"),
                "MintmarkNotSealed");
    }

    private void refuse(String table) {
        world.database()
                .runAsSuperuser(
                        """
                        CREATE OR REPLACE FUNCTION audit.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
                        BEGIN
                            RAISE EXCEPTION 'no' USING ERRCODE = '53100';
                        END $$;
                        CREATE TRIGGER refuse BEFORE INSERT ON audit.%s
                        FOR EACH ROW EXECUTE FUNCTION audit.refuse();
                        """
                                .formatted(table));
    }

    private void theReplicaIsGone() {
        fires(
                () -> {
                    endTraffic();
                    world.broker().stop();
                },
                () -> {},
                "MintmarkDown",
                "MintmarkReplicaDown");
    }

    private static Set<String> all() throws IOException {
        return Pattern.compile("(?m)^      - alert: (\\w+)$")
                .matcher(Files.readString(Path.of("docs/monitoring/rules.yml")))
                .results()
                .map((MatchResult found) -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
