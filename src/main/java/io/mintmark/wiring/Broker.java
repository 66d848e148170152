package io.mintmark.wiring;

import io.helidon.health.HealthCheck;
import io.helidon.health.HealthCheckResponse;
import io.helidon.health.checks.HeapMemoryHealthCheck;
import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Rejections;
import io.mintmark.audit.Sealer;
import io.mintmark.audit.SealingKeys;
import io.mintmark.config.ServiceSettings;
import io.mintmark.exchange.Exchange;
import io.mintmark.grant.Catalogue;
import io.mintmark.grant.KnownIssuers;
import io.mintmark.health.Check;
import io.mintmark.health.HealthReport;
import io.mintmark.http.Routes;
import io.mintmark.http.Servers;
import io.mintmark.metrics.Levels;
import io.mintmark.metrics.MeasuredCatalogue;
import io.mintmark.metrics.MeasuredEvents;
import io.mintmark.metrics.Measurements;
import io.mintmark.metrics.Meters;
import io.mintmark.mint.AccessProviders;
import io.mintmark.mint.TokenDestinations;
import io.mintmark.mint.awssts.AwsSts;
import io.mintmark.mint.azure.Azure;
import io.mintmark.mint.gcp.GoogleCloud;
import io.mintmark.mint.jwt.JwtProvider;
import io.mintmark.mint.oauth2.OAuth2;
import io.mintmark.mint.s3sts.S3Sts;
import io.mintmark.mint.sts.StsCaller;
import io.mintmark.mint.sts.StsClients;
import io.mintmark.mint.web.Calls;
import io.mintmark.mint.web.TokenCalls;
import io.mintmark.outbound.Destinations;
import io.mintmark.outbound.GuardedHttp;
import io.mintmark.outbound.SecretFiles;
import io.mintmark.postgres.Database;
import io.mintmark.postgres.DatabaseHealth;
import io.mintmark.postgres.Housekeeping;
import io.mintmark.postgres.Notifications;
import io.mintmark.postgres.PostgresCatalogue;
import io.mintmark.postgres.PostgresEventStore;
import io.mintmark.postgres.PostgresIdentityProviders;
import io.mintmark.postgres.PostgresSeals;
import io.mintmark.postgres.PostgresUsedTokens;
import io.mintmark.tenant.MintIds;
import io.mintmark.token.OwnIssuer;
import io.mintmark.token.SigningKeys;
import io.mintmark.token.TokenVerifier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A broker that serves: everything that it consists of, wired by hand. What was started is closed
 * in the opposite order.
 */
public final class Broker implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Broker.class);
    private static final Duration AUDIT_PATIENCE = Duration.ofSeconds(5);
    private static final double FULL_HEAP_PERCENT = 98;

    private final InstantSource clock;
    private final MintIds mintIds;
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final HealthCheck heap =
            HeapMemoryHealthCheck.builder().thresholdPercent(FULL_HEAP_PERCENT).build();
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final Meters meters = new Meters();
    private final Measurements measurements = new Measurements(meters);
    private final Levels levels = new Levels(meters);
    private final ServiceSettings settings;
    private final Destinations destinations;
    private final OwnIdentity identity;
    private final Database database;
    private final Catalogue catalogue;
    private final OwnIssuer ownIssuer;
    private final KnownIssuers issuers;
    private final PostgresUsedTokens usedTokens;
    private final DatabaseHealth databaseHealth;
    private final AuditLog audit;
    private final Rejections rejections;
    private final Servers servers;

    /**
     * Starts a broker whose database has its schema.
     *
     * @param destinations where it may connect to
     * @param identity not started yet
     * @param clock this machine's
     * @param replica the name of this one, for the audit log's readers
     */
    static Broker start(
            ServiceSettings settings,
            Destinations destinations,
            OwnIdentity identity,
            SealingKeys seals,
            InstantSource clock,
            String replica) {
        Broker broker = new Broker(settings, destinations, identity, seals, clock, replica);
        try {
            broker.servers.start();
            return broker;
        } catch (RuntimeException e) {
            broker.close();
            throw e;
        }
    }

    private Broker(
            ServiceSettings settings,
            Destinations destinations,
            OwnIdentity identity,
            SealingKeys seals,
            InstantSource clock,
            String replica) {
        Duration staleness = settings.catalog().maxStaleness();
        this.settings = settings;
        this.clock = clock;
        this.mintIds = new MintIds(clock, new SecureRandom());
        this.destinations = destinations;
        this.identity = identity;
        this.database = part(new Database(Logins.service(settings.database())));
        this.databaseHealth = new DatabaseHealth(database, clock);
        part(meters);
        MeasuredCatalogue readings = new MeasuredCatalogue(new PostgresCatalogue(database), meters);
        this.levels.show(database);
        this.levels.show(readings);
        this.catalogue = new Catalogue(readings, staleness, System::nanoTime);
        this.ownIssuer =
                settings.broker()
                        .issuer()
                        .map(url -> new OwnIssuer(url.toString()))
                        .orElse(OwnIssuer.NONE);
        this.issuers =
                new KnownIssuers(
                        new PostgresIdentityProviders(database),
                        ownIssuer,
                        staleness,
                        System::nanoTime);
        this.usedTokens = new PostgresUsedTokens(database);
        PostgresEventStore events = new PostgresEventStore(database, replica);
        PostgresEventStore refusals = new PostgresEventStore(database, replica);
        part(
                new Sealer(
                                new PostgresSeals(database, replica),
                                seals,
                                replica,
                                System::nanoTime,
                                () -> events.written() + refusals.written(),
                                System.out::println)
                        .start());
        this.audit = part(new AuditLog(new MeasuredEvents(events, meters), AUDIT_PATIENCE).start());
        this.rejections = part(new Rejections(refusals, mintIds, clock).start());
        this.levels.show(audit, rejections);
        Exchange exchange = exchange();
        // after the providers' clients, which keep the loggers of whole requests quiet
        part(identity.start());
        part(
                new Notifications(
                                Logins.service(settings.database()),
                                new Changes(catalogue, issuers))
                        .start());
        part(new Housekeeping(database, usedTokens).start());
        this.servers = part(servers(exchange));
    }

    private Exchange exchange() {
        TokenVerifier verifier =
                new TokenVerifier(
                        issuers,
                        new SigningKeys(new GuardedHttp(destinations), clock, measurements),
                        usedTokens,
                        ownIssuer,
                        clock);
        return new Exchange(
                verifier,
                issuers,
                catalogue,
                providers(),
                audit,
                rejections,
                mintIds,
                clock,
                settings.provider().timeout(),
                measurements);
    }

    private AccessProviders providers() {
        TokenDestinations tokens = new TokenDestinations(destinations);
        StsCaller sts = new StsCaller(part(StsClients.within(destinations)), clock);
        Calls calls = new Calls(new GuardedHttp(destinations), clock, new SecureRandom());
        TokenCalls tokenCalls = new TokenCalls(calls, clock);
        return new AccessProviders(
                List.of(
                        new AwsSts(identity.shown(), tokens, sts),
                        new S3Sts(identity.shown(), tokens, sts),
                        new GoogleCloud(identity.shown(), tokens, calls, clock),
                        new Azure(identity.shown(), tokens, tokenCalls),
                        new OAuth2(
                                identity.shown(),
                                identity.clientAssertions(),
                                new SecretFiles(settings.secrets().directory()),
                                tokens,
                                tokenCalls),
                        new JwtProvider(identity.accessTokens())),
                clock);
    }

    private Servers servers(Exchange exchange) {
        List<HealthCheck> checks = checks();
        List<HealthCheck> readiness = new ArrayList<>(checks);
        readiness.add(new Check("stopping", this::stoppingFault));
        HealthReport health = new HealthReport(checks, clock);
        Routes routes =
                new Routes(
                        exchange,
                        issuers,
                        identity.issuer(),
                        health,
                        settings.rateLimit(),
                        settings.cors(),
                        clock,
                        measurements);
        return new Servers(
                settings.server(), settings.admin(), routes, readiness, meters.registry(), clock);
    }

    private List<HealthCheck> checks() {
        return List.of(
                new Check("database", this::databaseFault),
                new Check("broker_idp", identity.shown()::fault),
                new Check("config", this::configurationFault),
                new Check("memory", this::memoryFault));
    }

    /** A database that takes no rows of the audit log is as good as none. */
    private Optional<String> databaseFault() {
        return databaseHealth.fault().or(audit::fault).or(rejections::fault);
    }

    private Optional<String> configurationFault() {
        issuers.checkReadable();
        return Optional.empty();
    }

    private Optional<String> memoryFault() {
        HealthCheckResponse response = heap.call();
        return response.status() == HealthCheckResponse.Status.UP
                ? Optional.empty()
                : Optional.of("the heap is over %.0f%% full".formatted(FULL_HEAP_PERCENT));
    }

    private Optional<String> stoppingFault() {
        return stopping.get() ? Optional.of("the broker is stopping") : Optional.empty();
    }

    private <T extends AutoCloseable> T part(T part) {
        parts.push(part);
        return part;
    }

    /** The public port, which may have been chosen by the system. */
    public int port() {
        return servers.port();
    }

    /** The port for operators. */
    public int adminPort() {
        return servers.adminPort();
    }

    /** Readiness goes down, requests in flight finish, the audit queue drains. */
    @Override
    public void close() {
        stopping.set(true);
        log.info("Mintmark stops: requests in flight finish, new ones are not taken");
        while (!parts.isEmpty()) {
            try {
                parts.pop().close();
            } catch (Exception e) {
                log.error("A part of the broker could not be closed", e);
            }
        }
        log.info("Mintmark has stopped");
    }
}
