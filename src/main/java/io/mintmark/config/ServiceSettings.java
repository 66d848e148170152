package io.mintmark.config;

import java.util.List;
import java.util.function.Consumer;

/** All that operators decide about a broker that serves, checked. */
public record ServiceSettings(
        ServerSettings server,
        AdminSettings admin,
        DatabaseSettings database,
        BrokerSettings broker,
        AuditSettings audit,
        SecretsSettings secrets,
        RateLimitSettings rateLimit,
        CorsSettings cors,
        ProviderSettings provider,
        CatalogSettings catalog,
        OutboundSettings outbound,
        CryptoSettings crypto,
        LogSettings log) {

    public ServiceSettings {
        if (database.migrate()) {
            database.migrator();
        }
        broker.identity().requireConfidential(outbound.allowedHosts());
    }

    /** What complains, each on its own: the sections, and what two of them say together. */
    private static final List<Consumer<Values>> SECTIONS =
            List.of(
                    ServerSettings::from,
                    AdminSettings::from,
                    ServiceSettings::requireTwoPorts,
                    DatabaseSettings::from,
                    ServiceSettings::requireMigrator,
                    BrokerSettings::from,
                    ServiceSettings::requireConfidential,
                    AuditSettings::from,
                    SecretsSettings::from,
                    RateLimitSettings::from,
                    CorsSettings::from,
                    ProviderSettings::from,
                    CatalogSettings::from,
                    OutboundSettings::from,
                    CryptoSettings::from,
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
        AdminSettings admin = AdminSettings.from(values);
        boolean overlap =
                server.host().equals(admin.host())
                        || server.host().isAnyLocalAddress()
                        || admin.host().isAnyLocalAddress();
        if (overlap && server.port() == admin.port() && server.port() != 0) {
            throw new InvalidSettings(
                    "SERVER_PORT and ADMIN_PORT are both %d: set ADMIN_PORT to another port"
                            .formatted(server.port()));
        }
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
                .requireConfidential(OutboundSettings.from(values).allowedHosts());
    }

    private static ServiceSettings read(Values values) {
        return new ServiceSettings(
                ServerSettings.from(values),
                AdminSettings.from(values),
                DatabaseSettings.from(values),
                BrokerSettings.from(values),
                AuditSettings.from(values),
                SecretsSettings.from(values),
                RateLimitSettings.from(values),
                CorsSettings.from(values),
                ProviderSettings.from(values),
                CatalogSettings.from(values),
                OutboundSettings.from(values),
                CryptoSettings.from(values),
                LogSettings.from(values));
    }
}
