package io.mintmark.base.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * All that operators decide about a broker that serves, checked.
 *
 * @param secretsDir holds a directory for each tenant, with the secrets that settings in the
 *     database refer to; without it no such reference works
 * @param corsOrigins of browser applications that may call, as browsers send them; none is {@code
 *     *}
 * @param providerTimeout of one call to an access provider, retries included
 * @param maxStaleness how old the view of the tables may get without the database having been asked
 * @param allowedHosts non-public destinations that the broker may connect to
 * @param nativeSignatures whether a native library may sign and verify where it loads
 */
public record ServiceSettings(
        ServerSettings server,
        AdminSettings admin,
        DatabaseSettings database,
        BrokerSettings broker,
        AuditSettings audit,
        Optional<Pkcs11Settings> pkcs11,
        Optional<Path> secretsDir,
        RateLimitSettings rateLimit,
        Set<String> corsOrigins,
        Duration providerTimeout,
        Duration maxStaleness,
        AllowedHosts allowedHosts,
        boolean nativeSignatures,
        LogSettings log) {

    public ServiceSettings {
        if (database.migrate()) {
            database.migrator();
        }
        broker.identity().requireConfidential(allowedHosts);
    }

    /** Checks beyond single values: sections, and combinations of sections. */
    private static final List<Consumer<Values>> SECTIONS =
            List.of(
                    ServerSettings::from,
                    AdminSettings::from,
                    ServiceSettings::requireTwoPorts,
                    DatabaseSettings::from,
                    ServiceSettings::requireMigrator,
                    AuditSettings::from,
                    BrokerSettings::from,
                    ServiceSettings::requireConfidential,
                    Pkcs11Settings::from,
                    RateLimitSettings::from,
                    LogSettings::from);

    /**
     * @throws InvalidSettings with all that is wrong
     */
    static ServiceSettings from(Values values, Complaints complaints) {
        values.check(KnownSettings.usedWith(values), complaints);
        SECTIONS.forEach(section -> complaints.from(() -> section.accept(values)));
        complaints.raise();
        return read(values);
    }

    private static void requireTwoPorts(Values values) {
        ServerSettings server = ServerSettings.from(values);
        AdminSettings.from(values)
                .requireApartFrom(server.host(), server.port(), "SERVER_PORT", "ADMIN_PORT");
    }

    private static void requireMigrator(Values values) {
        DatabaseSettings database = DatabaseSettings.from(values);
        if (database.migrate()) {
            database.migrator();
        }
    }

    private static void requireConfidential(Values values) {
        BrokerSettings.from(values)
                .identity()
                .requireConfidential(SingleSettings.allowedHosts(values));
    }

    private static ServiceSettings read(Values values) {
        return new ServiceSettings(
                ServerSettings.from(values),
                AdminSettings.from(values),
                DatabaseSettings.from(values),
                BrokerSettings.from(values),
                AuditSettings.from(values),
                Pkcs11Settings.from(values),
                values.find(SingleSettings.SECRETS_DIR),
                RateLimitSettings.from(values),
                Set.copyOf(values.find(SingleSettings.CORS_ALLOWED_ORIGINS).orElse(List.of())),
                values.get(SingleSettings.PROVIDER_TIMEOUT),
                values.get(SingleSettings.CATALOG_MAX_STALENESS),
                SingleSettings.allowedHosts(values),
                values.get(SingleSettings.NATIVE_SIGNATURES),
                LogSettings.from(values));
    }
}
