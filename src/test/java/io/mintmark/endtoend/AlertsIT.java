package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.Unchecked;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.provider.sts.StsAnswer;
import io.mintmark.provider.x509.Ca;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** A real Prometheus scrapes a replica of the broker: each incident fires its alerts. */
class AlertsIT {
    /** What {@code promtool test rules} alone shows: hours, a lack of memory or files, a crash. */
    private static final Set<String> BY_PROMTOOL_ALONE =
            Set.of(
                    "MintmarkAuditRowsLost",
                    "MintmarkConnectionsWait",
                    "MintmarkEndingsOverdue",
                    "MintmarkFilesRunOut",
                    "MintmarkInternalErrors",
                    "MintmarkLatencyBudgetBurns",
                    "MintmarkNotWitnessed",
                    "MintmarkNoticesDropped",
                    "MintmarkQueueGrows",
                    "MintmarkSlow",
                    "MintmarkThreadDied",
                    "MintmarkThreadStandsStill",
                    "MintmarkUnresolvedMints");

    @TempDir private Path directory;

    private final AtomicBoolean open = new AtomicBoolean(true);
    private final AtomicBoolean proxied = new AtomicBoolean();
    private World world;
    private IssuerStandIn other;
    private Incidents incidents;
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
        incidents =
                new Incidents(
                        directory,
                        new Prometheus.Job("mintmark", 0.5, "https", world.broker().adminPort()));
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
        incidents.close();
        world.close();
        other.close();
    }

    @Test
    void each_incident_fires_its_alerts_and_no_others() throws Exception {
        incidents.assertNothingFires();
        whatATenantCausesPagesNobody();
        whatClientsCause();
        certificates();
        theLogRefusesRows();
        theLogIsNotSealed();
        theReplicaIsGone();
        Set<String> missing = Incidents.alerts();
        missing.removeAll(incidents.shown());
        missing.removeAll(ConsoleAlertsIT.ALERTS);
        assertEquals(new TreeSet<>(BY_PROMTOOL_ALONE), missing);
    }

    private void whatATenantCausesPagesNobody() {
        incidents.fires(
                () -> {
                    other.goDown();
                    other.rotate(); // a key id that has to be fetched
                    world.sts().always(new StsAnswer.Refusing(403, "AccessDenied", "no"));
                },
                () -> {
                    incidents.assertLabels("MintmarkIssuerFails", "severity", "ticket");
                    incidents.assertLabels("MintmarkIssuerFails", "tenant", "acme");
                    incidents.assertLabels("MintmarkIssuerFails", "issuer", other.url());
                    incidents.assertLabels("MintmarkTenantFails", "tenant", "acme");
                    incidents.assertLabels("MintmarkTenantFails", "severity", "ticket");
                    incidents.assertLabels("MintmarkProviderFails", "type", "aws-sts");
                    other.comeBack();
                    world.sts().always(new StsAnswer.AsAsked());
                },
                "MintmarkIssuerFails",
                "MintmarkKeySetsFail",
                "MintmarkProviderFails",
                "MintmarkTenantFails");
    }

    private void whatClientsCause() {
        incidents.fires(
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
        Answer answer = world.broker().requestAccess(world.token(), "spare");
        assertEquals(202, answer.status(), answer::toString);
    }

    private void certificates() {
        incidents.fires(
                () -> Unchecked.run(() -> certificate(Duration.ofDays(1))),
                () -> Unchecked.run(() -> certificate(Duration.ofDays(30))),
                "MintmarkCertificateExpires",
                "MintmarkPortCertificateExpires");
        incidents.fires(
                () -> Unchecked.run(() -> Files.writeString(file("tls.crt"), "garbage")),
                () -> Unchecked.run(() -> certificate(Duration.ofDays(30))),
                "MintmarkFileRefused");
    }

    private void theLogRefusesRows() {
        incidents.fires(
                () -> refuse("event"),
                () -> world.database().runAsSuperuser("DROP TRIGGER refuse ON log.event"),
                "MintmarkAnswersErrors",
                "MintmarkAuditLogFails",
                "MintmarkBudgetBurns",
                "MintmarkReplicaUnhealthy",
                "MintmarkUnhealthy");
    }

    private void theLogIsNotSealed() {
        incidents.fires(
                () -> refuse("checkpoint"),
                () -> world.database().runAsSuperuser("DROP TRIGGER refuse ON log.checkpoint"),
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
                        CREATE TRIGGER refuse BEFORE INSERT ON log.%s
                        FOR EACH ROW EXECUTE FUNCTION audit.refuse();
                        """
                                .formatted(table));
    }

    private void theReplicaIsGone() {
        incidents.fires(
                () -> {
                    endTraffic();
                    world.broker().stop();
                },
                () -> {},
                "MintmarkDown",
                "MintmarkReplicaDown");
    }
}
