package io.mintmark.console.wiring;

import io.mintmark.audit.checkpoint.PublicKeys;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.base.config.ConsoleSettings;
import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.metrics.Meters;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.schema.ConsoleLoginCheck;
import io.mintmark.base.schema.SchemaCheck;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Logins;
import io.mintmark.base.sql.ReadOnlyDatabase;
import io.mintmark.base.sql.Roles;
import io.mintmark.base.start.Authorities;
import io.mintmark.base.start.Certificates;
import io.mintmark.base.start.Components;
import io.mintmark.base.start.DatabaseWait;
import io.mintmark.base.start.NoHelidonConfig;
import io.mintmark.base.start.Ports;
import io.mintmark.base.start.ProgramVersion;
import io.mintmark.base.start.StartFailed;
import io.mintmark.broker.token.IssuerKeys;
import io.mintmark.console.ConsoleMetrics;
import io.mintmark.console.ConsoleServer;
import io.mintmark.console.CookieKey;
import io.mintmark.console.LoginEndpoints;
import io.mintmark.console.ViewerDatabase;
import io.mintmark.console.pages.Pages;
import io.mintmark.console.pages.requests.BrokerRoutes;
import io.mintmark.console.verification.Proof;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** The start of the console, step by step: from the settings to the first page. */
public final class ConsoleStartup {
    private static final Logger log = LoggerFactory.getLogger(ConsoleStartup.class);

    /**
     * The number of connections, few so that the console can't slow down the broker's statements.
     */
    private static final int CONNECTIONS = 4;

    private final ConsoleSettings settings;
    private final Map<String, CredentialType> types;
    private final InstantSource clock;

    /**
     * A start with these settings.
     *
     * @param types of credentials, by name
     * @param clock this machine's
     */
    public ConsoleStartup(
            ConsoleSettings settings, Map<String, CredentialType> types, InstantSource clock) {
        this.settings = settings;
        this.types = types;
        this.clock = clock;
    }

    /**
     * Starts the console.
     *
     * @throws RuntimeException whose message says in one line what is wrong and what to do
     */
    public Console run() {
        NoHelidonConfig.only();
        CookieKey cookieKey = cookieKey();
        settings.auditKeysFile().ifPresent(ConsoleStartup::trusted);
        Certificates certificates = Certificates.of(settings);
        Ports.requireFree("CONSOLE_PORT", settings.host(), settings.port());
        settings.admin()
                .ifPresent(admin ->
                        Ports.requireFree("CONSOLE_ADMIN_PORT", admin.host(), admin.port()));
        DatabaseLogin login = Logins.service(settings.database());
        checkDatabase(login);
        Authorities.read();
        GuardedHttp http = new GuardedHttp(new Destinations(settings.allowedHosts()));
        LoginEndpoints endpoints = endpoints(http);
        Components components = new Components();
        try {
            ConsoleServer server =
                    server(components, certificates, login, cookieKey, endpoints, http);
            log.info("The console is at {}, on port {}", settings.url(), server.port());
            server.adminPort()
                    .ifPresent(port -> log.info("Health and metrics are on port {}", port));
            return new Console(components, server);
        } catch (RuntimeException | Error e) {
            components.close();
            throw e;
        }
    }

    private ConsoleServer server(
            Components components,
            Certificates certificates,
            DatabaseLogin login,
            CookieKey cookieKey,
            LoginEndpoints endpoints,
            GuardedHttp http) {
        ViewerDatabase database =
                components.running(
                        new ViewerDatabase(
                                new ReadOnlyDatabase(login, "mintmark console", CONNECTIONS),
                                CONNECTIONS));
        ConsoleServer server =
                components.idle(
                        new ConsoleServer(
                                settings,
                                certificates,
                                endpoints,
                                cookieKey,
                                database,
                                new Pages(
                                        database,
                                        proof(login),
                                        types,
                                        settings.broker().map(url -> new BrokerRoutes(url, http)),
                                        settings.otherCells(),
                                        clock),
                                new IssuerKeys(http, clock),
                                metrics(components, certificates, cookieKey),
                                clock));
        components.start(server, ConsoleServer::start);
        return server;
    }

    private ConsoleMetrics metrics(
            Components components, Certificates certificates, CookieKey cookieKey) {
        ConsoleMetrics metrics = new ConsoleMetrics(components.running(new Meters()));
        metrics.show(
                certificates,
                cookieKey.written(),
                clock,
                ProgramVersion.shown(),
                "JDK"); // it verifies a few tokens a day
        return metrics;
    }

    private Proof proof(DatabaseLogin login) {
        Optional<Supplier<TrustedKeys>> keys =
                settings.auditKeysFile().map(file -> () -> trusted(file));
        Roles roles = Logins.roles(settings.database().roles());
        return new Proof(
                viewer -> PostgresLog.asViewer(login, roles, viewer.claims()),
                result -> result.record(login),
                keys,
                clock);
    }

    private static TrustedKeys trusted(Path file) {
        return new TrustedKeys(PublicKeys.read(file, "CONSOLE_AUDIT_KEYS_FILE"));
    }

    private CookieKey cookieKey() {
        Path file = settings.cookieKeyFile();
        try {
            return CookieKey.read(file);
        } catch (IllegalArgumentException e) {
            throw new StartFailed(
                    "CONSOLE_COOKIE_KEY_FILE: '%s' %s".formatted(file, e.getMessage()));
        }
    }

    private LoginEndpoints endpoints(GuardedHttp http) {
        try {
            return LoginEndpoints.of(settings.issuer().toString(), http);
        } catch (LoginEndpoints.Unusable e) {
            throw new StartFailed(
                    "CONSOLE_OIDC_ISSUER %s: %s".formatted(settings.issuer(), e.getMessage()));
        }
    }

    private void checkDatabase(DatabaseLogin login) {
        DatabaseSettings database = settings.database();
        new DatabaseWait(database)
                .run(() -> {
                    new SchemaCheck(login).require(ProgramVersion.current());
                    new ConsoleLoginCheck(login, Logins.roles(database.roles())).require();
                });
    }
}
