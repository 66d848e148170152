package io.mintmark.base.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Settings that are alone in their section. */
final class SingleSettings {
    static final Setting<Path> SECRETS_DIR =
            Setting.of(
                    "secrets.dir",
                    Formats.DIRECTORY,
                    "Directory of the secrets that tenants' rows name as `{\"file\": \"name\"}`."
                            + " It contains one directory for each tenant.");

    static final Setting<List<String>> CORS_ALLOWED_ORIGINS =
            Setting.of(
                    "cors.allowed-origins",
                    UrlFormats.ORIGIN.list(),
                    "Origins of the browser applications that may call the broker.");

    static final Setting<Duration> PROVIDER_TIMEOUT =
            Setting.of(
                    "provider.timeout",
                    Formats.duration(Duration.ofMillis(100), Duration.ofMinutes(1)),
                    "PT10S",
                    "Maximum time for a call to an access provider, including retries.");

    static final Setting<Duration> CATALOG_MAX_STALENESS =
            Setting.of(
                    "catalog.max-staleness",
                    Formats.duration(Duration.ofMillis(100), Duration.ofHours(1)),
                    "PT10S",
                    "Maximum age of the cached configuration that the broker uses while the"
                            + " database is unavailable.");

    static final Setting<List<String>> OUTBOUND_ALLOWED_HOSTS =
            Setting.of(
                    "outbound.allowed-hosts",
                    AllowedHosts.ENTRY.list(),
                    "Non-public hosts, IP addresses and networks to which the broker may"
                            + " connect.");

    static final Setting<Boolean> NATIVE_SIGNATURES =
            Setting.of(
                    "crypto.native-signatures",
                    Formats.BOOLEAN,
                    "true",
                    "Whether to sign and verify with Amazon Corretto Crypto Provider, which loads on Linux on"
                            + " x86-64 and arm64. Otherwise, Mintmark uses the JDK.");

    private SingleSettings() {}

    static AllowedHosts allowedHosts(Values values) {
        return values.find(OUTBOUND_ALLOWED_HOSTS).map(AllowedHosts::of).orElse(AllowedHosts.NONE);
    }
}
