package io.mintmark.broker.wiring;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Rejections;
import io.mintmark.audit.checkpoint.Sealer;
import io.mintmark.audit.log.Housekeeping;
import io.mintmark.audit.log.RevocationPolicy;
import io.mintmark.base.config.ServiceSettings;
import io.mintmark.base.health.HealthReport;
import io.mintmark.base.metrics.ProcessGauges;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.SecretFiles;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.start.Components;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.trace.Traces;
import io.mintmark.broker.approval.AccessRequests;
import io.mintmark.broker.approval.Lapses;
import io.mintmark.broker.approval.WithdrawnRequests;
import io.mintmark.broker.catalogue.PostgresCatalogue;
import io.mintmark.broker.catalogue.PostgresIdentityProviders;
import io.mintmark.broker.catalogue.WatchedCatalogue;
import io.mintmark.broker.exchange.Exchange;
import io.mintmark.broker.grant.Catalogue;
import io.mintmark.broker.grant.CataloguePolling;
import io.mintmark.broker.grant.KnownIssuers;
import io.mintmark.broker.http.Routes;
import io.mintmark.broker.http.Servers;
import io.mintmark.broker.lease.LeaseRevocations;
import io.mintmark.broker.lease.LeaseStore;
import io.mintmark.broker.lease.PostgresLeases;
import io.mintmark.broker.lease.ProviderLeases;
import io.mintmark.broker.metrics.MeasuredCatalogue;
import io.mintmark.broker.metrics.MeasuredEvents;
import io.mintmark.broker.notice.NoticeDelivery;
import io.mintmark.broker.notice.NoticeSender;
import io.mintmark.broker.notice.NoticeStore;
import io.mintmark.broker.revocation.PostgresRevokedCredentials;
import io.mintmark.broker.revocation.RevocationLists;
import io.mintmark.broker.token.IssuerKeys;
import io.mintmark.broker.token.OwnIssuer;
import io.mintmark.broker.token.TokenVerifier;
import io.mintmark.provider.AccessProviders;
import io.mintmark.provider.sts.StsClients;

import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Puts a broker together, in the order in which its components know each other. Only what can't be
 * made without holding something holds it from then on; all else waits for {@link #start}.
 */
final class Assembly {
    private static final Duration AUDIT_PATIENCE = Duration.ofSeconds(5);

    private final InstantSource clock;
    private final MintIds mintIds;
    private final Prepared prepared;
    private final Components components;
    private final OwnIssuer ownIssuer;
    private final Stores stores;
    private final Telemetry telemetry;
    private final StsClients sts;
    private final TenantHttpClients connections;
    private final AccessProviders providers;
    private final Catalogue catalogue;
    private final KnownIssuers issuers;
    private final Witnesses witnesses;
    private final Sealer sealer;
    private final AuditLog audit;
    private final Rejections rejections;
    private final CataloguePolling polling;
    private final Housekeeping housekeeping;
    private final LeaseRevocations endings;
    private final NoticeSender notices;
    private final Lapses lapses;
    private final Servers servers;

    /**
     * @param components collects what must be closed, even if this fails half-way
     * @param stopping whether the broker has been told to stop
     */
    Assembly(Prepared prepared, Components components, BooleanSupplier stopping) {
        ServiceSettings settings = prepared.settings();
        this.prepared = prepared;
        this.clock = prepared.clock();
        this.mintIds = new MintIds(clock, new SecureRandom());
        this.components = components;
        components.running(prepared.held());
        this.ownIssuer = ownIssuer(settings);
        this.telemetry = Telemetry.of(components);
        this.connections = components.running(new TenantHttpClients(prepared.destinations()));
        this.sts = components.running(StsClients.over(connections));
        this.providers = Providers.of(prepared, sts, connections);
        this.stores =
                components.running(
                        Stores.open(
                                settings.database(),
                                prepared.replica(),
                                prepared.declaring(),
                                new RevocationPolicy(
                                        providers.revokers().keySet(),
                                        settings.providerTimeout())));
        MeasuredCatalogue readings = readings();
        this.catalogue =
                new Catalogue(
                        readings, settings.maxStaleness(), prepared.clocks(), System::nanoTime);
        this.issuers = issuers(settings);
        this.witnesses = new Witnesses(prepared, stores, components);
        this.sealer = components.idle(sealer());
        this.audit =
                components.idle(
                        new AuditLog(
                                new MeasuredEvents(stores.events(), telemetry.meters()),
                                AUDIT_PATIENCE));
        this.rejections = components.idle(new Rejections(stores.rejections(), mintIds, clock));
        components.idle(prepared.identity());
        this.polling = components.idle(new CataloguePolling(catalogue, issuers));
        this.housekeeping =
                components.idle(
                        new Housekeeping(
                                stores.database(),
                                List.of(
                                        stores.usedTokens()::forget,
                                        telemetry.expiriesOfTenants(providers, stores),
                                        new TenantSecretFaults(
                                                        providers,
                                                        new PostgresCatalogue(stores.database()))
                                                ::report)));
        this.endings = components.idle(endings(settings.providerTimeout()));
        this.notices = components.idle(notices(settings));
        this.lapses = components.idle(new Lapses(stores.database()));
        this.servers = components.idle(servers(settings, stopping));
        telemetry.show(prepared, stores, readings, audit, rejections, witnesses);
    }

    /**
     * Starts everything. The ports come after all that a request needs, and last the sealer,
     * because a checkpoint that is out can't be taken back.
     */
    Servers start() {
        components.start(audit, AuditLog::start);
        components.start(rejections, Rejections::start);
        components.start(prepared.identity(), OwnIdentity::start);
        components.start(polling, CataloguePolling::start);
        components.start(housekeeping, Housekeeping::start);
        components.start(endings, LeaseRevocations::start);
        components.start(notices, NoticeSender::start);
        components.start(lapses, Lapses::start);
        components.start(servers, Servers::start);
        witnesses.start(components);
        components.start(sealer, Sealer::start);
        return servers;
    }

    private static OwnIssuer ownIssuer(ServiceSettings settings) {
        return settings.broker()
                .issuer()
                .map(url -> new OwnIssuer(url.toString()))
                .orElse(OwnIssuer.NONE);
    }

    private MeasuredCatalogue readings() {
        return new MeasuredCatalogue(
                new WatchedCatalogue(new PostgresCatalogue(stores.database()), stores.history()),
                telemetry.meters());
    }

    private KnownIssuers issuers(ServiceSettings settings) {
        return new KnownIssuers(
                new PostgresIdentityProviders(stores.database(), System::nanoTime),
                ownIssuer,
                settings.maxStaleness(),
                System::nanoTime);
    }

    private Sealer sealer() {
        return new Sealer(
                stores.seals(),
                prepared.seals(),
                prepared.settings().audit().keyReplaced(),
                prepared.replica(),
                System::nanoTime,
                stores::rows,
                witnesses::print);
    }

    private LeaseRevocations endings(Duration timeout) {
        LeaseStore store = new PostgresLeases(stores.database(), prepared.replica());
        return new LeaseRevocations(
                store,
                new ProviderLeases(
                        store,
                        providers,
                        audit,
                        clock,
                        new SecureRandom(),
                        timeout,
                        telemetry.measurements()),
                timeout);
    }

    private NoticeSender notices(ServiceSettings settings) {
        return new NoticeSender(
                new NoticeStore(stores.database(), prepared.replica()),
                new NoticeDelivery(
                        connections,
                        new SecretFiles(settings.secretsDir()),
                        settings.broker().url().map(URI::toString).orElse(""),
                        settings.broker().consoleUrl().map(URI::toString),
                        clock),
                new SecureRandom(),
                telemetry.measurements());
    }

    private Exchange exchange(ServiceSettings settings) {
        telemetry
                .measurements()
                .announce(Routes.OF_CREDENTIALS, providers.types(), providers.revokers().keySet());
        return new Exchange(
                verifier(),
                issuers,
                catalogue,
                providers,
                audit,
                rejections,
                mintIds,
                prepared.clocks(),
                settings.providerTimeout(),
                telemetry.measurements(),
                new WithdrawnRequests(stores.database())::of);
    }

    private RevocationLists revocations() {
        return new RevocationLists(
                new PostgresRevokedCredentials(stores.database()),
                providers.revocations(),
                clock,
                System::nanoTime);
    }

    private TokenVerifier verifier() {
        return new TokenVerifier(
                issuers,
                new IssuerKeys(
                        new GuardedHttp(prepared.destinations()), clock, telemetry.measurements()),
                stores.usedTokens(),
                ownIssuer,
                prepared.clocks());
    }

    private Servers servers(ServiceSettings settings, BooleanSupplier stopping) {
        HealthChecks checks =
                new HealthChecks(
                        stores.database(),
                        audit,
                        rejections,
                        prepared.identity().shown(),
                        issuers,
                        prepared.clocks());
        HealthReport health = new HealthReport(checks.health(), clock);
        new ProcessGauges(telemetry.meters()).show(health);
        Exchange exchange = exchange(settings);
        Routes routes =
                new Routes(
                        exchange,
                        exchange.approvals(new AccessRequests(stores.database(), clock)),
                        issuers,
                        settings.broker(),
                        prepared.identity().issuer(),
                        revocations(),
                        health,
                        settings.rateLimit(),
                        settings.corsOrigins(),
                        clock,
                        telemetry.measurements(),
                        telemetry.traces().map(Traces::tracer));
        return new Servers(
                settings.server(),
                settings.admin(),
                prepared.certificates().server(),
                prepared.certificates().admin(),
                settings.providerTimeout(),
                routes,
                checks.ofPlatform(stopping),
                telemetry.meters().registry(),
                clock);
    }
}
