package io.mintmark.provider.postgresql;

import io.mintmark.base.outbound.ClientCertificate;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.DriverConnection;
import io.mintmark.base.outbound.DriverSockets;
import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.time.Timeout;
import io.mintmark.provider.SettingSecrets;

import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Connects to tenants' servers as the broker. */
final class TargetSessions {
    /** The maximum number of bytes from a server: the longest errors of two statements. */
    private static final long MOST_BYTES = 2L * ServerMessages.LONGEST_ERROR;

    private static final int ATTEMPTS = 3;
    private static final Duration FIRST_WAIT = Duration.ofMillis(200);

    /**
     * The address for the driver, which must not look up any name. The dial does the connecting.
     */
    private static final String NO_HOST = "127.0.0.1";

    private final Destinations destinations;
    private final SettingSecrets secrets;
    private final InstantSource clock;

    TargetSessions(Destinations destinations, SettingSecrets secrets, InstantSource clock) {
        this.destinations = destinations;
        this.secrets = secrets;
        this.clock = clock;
    }

    /**
     * Opens a session in a database of the server. Tries again if nothing was sent, or if the
     * server reports that it has no free connection yet.
     *
     * @throws io.mintmark.provider.UnusableSettingsException if a secret can't be read
     */
    Session open(TenantName tenant, PostgresSettings settings, String database, Instant deadline)
            throws TargetFailure {
        Duration wait = FIRST_WAIT;
        for (int attempt = 1; ; attempt++) {
            try {
                return openOnce(tenant, settings, database, deadline);
            } catch (TargetFailure e) {
                boolean fits = clock.instant().plus(wait).isBefore(deadline);
                if (attempt == ATTEMPTS || !e.helpsToRetry() || !fits || !slept(wait)) {
                    throw e;
                }
                wait = wait.multipliedBy(2);
            }
        }
    }

    /** Reads the secrets of the settings. */
    void requireSecrets(TenantName tenant, PostgresSettings settings) {
        settings.passwordFile().ifPresent(file -> secrets.read(tenant, "password", file));
        var _ = settings.client().map(client -> client.read(secrets, tenant));
    }

    private Session openOnce(
            TenantName tenant, PostgresSettings settings, String database, Instant deadline)
            throws TargetFailure {
        Duration left = Duration.between(clock.instant(), deadline);
        DriverConnection dial = new DriverConnection(destinations, route(tenant, settings, left));
        Timeout timeout = Timeout.after(left, dial::close);
        try {
            PGSimpleDataSource driver = driver(tenant, settings, database, left);
            Connection connection = dial.open(driver::getConnection);
            return new Session(settings.server(), connection, dial, timeout, deadline, clock);
        } catch (SQLException e) {
            timeout.close();
            dial.close();
            throw failure(settings, dial, deadline, e);
        } catch (RuntimeException | Error e) {
            timeout.close();
            dial.close();
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(
                    "the PostgreSQL driver threw an unexpected exception", e);
        }
    }

    private TargetFailure failure(
            PostgresSettings settings, DriverConnection dial, Instant deadline, SQLException e) {
        Optional<OutboundFailure> notConnected = dial.failure();
        if (!clock.instant().isBefore(deadline)) {
            return TargetFailure.late(settings.server(), e);
        }
        return notConnected
                .map(why -> TargetFailure.of(settings.server(), why))
                .orElseGet(() -> TargetFailure.of(settings.server(), e));
    }

    private DriverConnection.Route route(
            TenantName tenant, PostgresSettings settings, Duration left) {
        Optional<ClientCertificate> own =
                settings.client().map(client -> client.read(secrets, tenant));
        return new DriverConnection.Route(
                tenant.value(),
                settings.server().host(),
                settings.server().port(),
                left,
                settings.hasTls()
                        ? Optional.of(new DriverConnection.Tls(settings.caCertificate(), own))
                        : Optional.empty(),
                ServerMessages.PROTOCOL,
                MOST_BYTES);
    }

    /**
     * Sets up the driver with properties only, because a text in a URL could add properties. The
     * dial does TLS. The password is never sent, and a server that doesn't prove that it knows the
     * password is refused.
     */
    private PGSimpleDataSource driver(
            TenantName tenant, PostgresSettings settings, String database, Duration left) {
        long seconds = Math.max(1, left.toSeconds() + 1);
        PGSimpleDataSource driver = new PGSimpleDataSource();
        driver.setServerNames(new String[] {NO_HOST});
        driver.setPortNumbers(new int[] {settings.server().port()});
        driver.setDatabaseName(database);
        driver.setUser(settings.login());
        driver.setPassword(
                settings.passwordFile()
                        .map(file -> secrets.read(tenant, "password", file).reveal())
                        .orElse(""));
        Map.of(
                        PGProperty.SOCKET_FACTORY, DriverSockets.class.getName(),
                        PGProperty.SSL_MODE, "disable",
                        PGProperty.GSS_ENC_MODE, "disable",
                        PGProperty.REQUIRE_AUTH,
                                settings.passwordFile().isPresent() ? "scram-sha-256" : "none",
                        PGProperty.SOCKET_TIMEOUT, Long.toString(seconds),
                        PGProperty.ASSUME_MIN_SERVER_VERSION, "15",
                        PGProperty.APPLICATION_NAME, "mintmark",
                        PGProperty.PREFER_QUERY_MODE, "simple",
                        PGProperty.OPTIONS, options(left))
                .forEach(driver::setProperty);
        return driver;
    }

    /**
     * A database's and a role's own settings can't change what the broker's statements mean. A
     * session whose broker is gone ends itself.
     */
    private static String options(Duration left) {
        return Stream.of(
                        "search_path=pg_catalog,pg_temp",
                        "standard_conforming_strings=on",
                        "client_min_messages=error",
                        "default_transaction_read_only=off",
                        "idle_session_timeout=0",
                        "idle_in_transaction_session_timeout=15s",
                        "lock_timeout=2s",
                        "statement_timeout=" + Math.max(1, left.toMillis()))
                .map("-c "::concat)
                .collect(Collectors.joining(" "));
    }

    private static boolean slept(Duration wait) {
        try {
            Thread.sleep(wait);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
