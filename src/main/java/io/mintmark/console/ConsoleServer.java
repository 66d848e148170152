package io.mintmark.console;

import io.helidon.http.Method;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.mintmark.base.config.ConsoleSettings;
import io.mintmark.base.health.Check;
import io.mintmark.base.http.connection.GuardedPort;
import io.mintmark.base.http.connection.OpenFiles;
import io.mintmark.base.http.connection.UriCharacters;
import io.mintmark.base.http.observe.Observation;
import io.mintmark.base.http.request.AccessLog;
import io.mintmark.base.http.request.AddressLimits;
import io.mintmark.base.http.request.ClientAddresses;
import io.mintmark.base.http.request.FilterFailures;
import io.mintmark.base.http.request.RequestIds;
import io.mintmark.base.http.request.UntrustedProxies;
import io.mintmark.base.http.tls.CertificateWatch;
import io.mintmark.base.limit.ForwardedFor;
import io.mintmark.base.limit.IgnoredForwarding;
import io.mintmark.base.start.Certificates;
import io.mintmark.broker.token.IssuerKeys;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The console's ports, with the bounds and the framing of the broker's. */
public final class ConsoleServer implements AutoCloseable {
    /** The maximum time of a page. */
    private static final Duration GRACE = Duration.ofSeconds(10);

    /** Bytes: the claims to explain, each of up to 8,192 characters as three. */
    private static final long LONGEST_FORM = 32 << 10;

    private final GuardedPort guard;
    private final Optional<ConsoleAdminPort> admin;
    private final CertificateWatch certificates;
    private final Duration drain;
    private final WebServer server;
    private volatile boolean stopping;

    /**
     * The ports, not listening yet.
     *
     * @param certificates of the two ports; one without serves plain HTTP
     * @param pages what is shown to those who are logged in
     * @param keys those of the identity provider
     */
    public ConsoleServer(
            ConsoleSettings settings,
            Certificates certificates,
            LoginEndpoints endpoints,
            CookieKey cookieKey,
            ViewerDatabase database,
            PageRoutes pages,
            IssuerKeys keys,
            ConsoleMetrics metrics,
            InstantSource clock) {
        this.admin =
                settings.admin()
                        .map(port ->
                                new ConsoleAdminPort(
                                        port, certificates.admin(), settings.bounds()));
        OpenFiles.requireEnough(
                settings.bounds().maxConnections()
                        + admin.map(_ -> Observation.CONNECTIONS).orElse(0));
        this.drain = settings.drain();
        this.certificates = new CertificateWatch(certificates.all());
        this.guard =
                new GuardedPort(
                        certificates.server(), settings.bounds(), Set.of(), System::nanoTime);
        ClientAddresses addresses =
                new ClientAddresses(new ForwardedFor(settings.rateLimit().trustedProxies()));
        AddressLimits limits = new AddressLimits(settings.rateLimit(), addresses, clock);
        ConsoleFailures failures = new ConsoleFailures(limits, metrics);
        ConsoleAccess access = new ConsoleAccess(database);
        ConsoleHealth health = new ConsoleHealth(access, System::nanoTime);
        Sessions sessions = new Sessions(endpoints, settings.clientId(), keys, clock);
        HelidonLogin login =
                new HelidonLogin(
                        settings.url(),
                        endpoints,
                        settings.clientId(),
                        settings.clientSecret().reveal(),
                        cookieKey);
        LoginRoutes routes =
                new LoginRoutes(
                        settings.url(),
                        endpoints,
                        settings.clientId(),
                        login,
                        sessions,
                        metrics,
                        pages.paths());
        WebServerConfig.Builder builder =
                WebServer.builder()
                        .featuresDiscoverServices(false)
                        .shutdownHook(false)
                        .shutdownGracePeriod(GRACE)
                        .host(settings.host().getHostAddress())
                        .port(settings.port())
                        .directHandlers(failures.everywhere())
                        .maxPayloadSize(LONGEST_FORM)
                        .contentEncoding(
                                encodings -> encodings.contentEncodingsDiscoverServices(false))
                        .routing(routing -> {
                            routing.addFilter(new RequestIds())
                                    .addFilter(new AccessLog(addresses))
                                    .addFilter(metrics)
                                    .addFilter(new FilterFailures(failures));
                            filters(routing, settings, limits, pages.files());
                            routing.addFilter(new LoginFilter(login, sessions, access))
                                    .addFilter(routes)
                                    .error(Throwable.class, failures)
                                    .get(ConsoleLiveness.PATH, new ConsoleLiveness())
                                    .get(ConsoleHealth.PATH, health)
                                    .route(Method.HEAD, ConsoleHealth.PATH, health);
                            routes.register(routing);
                            pages.register(routing);
                        });
        guard.guard(builder, true);
        metrics.showCheck(ConsoleHealth.DATABASE, health::answers);
        admin.ifPresent(port -> port.addTo(builder, checks(health), metrics.registry()));
        this.server = builder.build();
    }

    private List<Check> checks(ConsoleHealth health) {
        List<Check> checks = new ArrayList<>(Check.ofThreads());
        checks.add(Check.ofReadiness(ConsoleHealth.DATABASE, health::fault));
        checks.add(
                Check.ofReadiness(
                        "stopping",
                        () ->
                                stopping
                                        ? Optional.of("the console is stopping")
                                        : Optional.empty()));
        return checks;
    }

    /** The filters of every request that may refuse it or set headers. */
    private static void filters(
            HttpRouting.Builder routing,
            ConsoleSettings settings,
            AddressLimits limits,
            Set<String> files) {
        IgnoredForwarding forwarding = new IgnoredForwarding(settings.rateLimit().trustedProxies());
        routing.addFilter(new UntrustedProxies(forwarding, () -> {}))
                .addFilter(new PageHeaders("https".equals(settings.url().getScheme())))
                .addFilter(new TypedAddresses())
                .addFilter(new PageLimits(limits))
                .addFilter(new SameSite(settings.url(), files));
    }

    /**
     * Listens.
     *
     * @throws IllegalStateException if it can't; the server itself only logs why
     */
    public void start() {
        server.start();
        if (!server.isRunning()) {
            throw new IllegalStateException(
                    "the console can't listen on CONSOLE_PORT or CONSOLE_ADMIN_PORT; the log has the reason");
        }
        certificates.start();
    }

    /** The port, which may have been chosen by the system. */
    public int port() {
        return server.port();
    }

    /** The port for operators, if there is one. */
    public Optional<Integer> adminPort() {
        return admin.map(_ -> server.port(Observation.ADMIN));
    }

    /**
     * Serves on for a while, with answers that end their connections; then listens no more and
     * waits for the requests in flight.
     */
    @Override
    public void close() {
        stopping = true;
        if (server.isRunning()) {
            guard.drain();
            try {
                guard.awaitEmpty(drain);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // then the stop goes on at once
            }
        }
        guard.drain();
        guard.closeIdle();
        admin.ifPresent(ConsoleAdminPort::closeIdle);
        server.stop();
        guard.close();
        admin.ifPresent(ConsoleAdminPort::close);
        certificates.close();
    }

    /**
     * Rejects queries with characters that RFC 3986 section 3.4 doesn't allow, with a page: people
     * type addresses. The port itself would end the connection without one.
     */
    private static final class TypedAddresses implements Filter {
        @Override
        public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
            if (UriCharacters.isQuery(request.prologue().query().rawValue())) {
                chain.proceed();
            } else {
                Notice.of(
                                400,
                                "Error",
                                "The URL has a character that must be encoded, or a % without two"
                                        + " hexadecimal digits.",
                                "Use the search field, which encodes your text. In a URL write %25"
                                        + " for % and %20 for a space.")
                        .withLink("To the overview", "/")
                        .send(request, response);
            }
        }
    }
}
