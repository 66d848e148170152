package io.mintmark.config;

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
        LogSettings log) {

    public ServiceSettings {
        if (database.migrate()) {
            database.migrator();
        }
        broker.identity().requireConfidential(outbound.allowedHosts());
    }

    static ServiceSettings from(Values values) {
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
                LogSettings.from(values));
    }
}
