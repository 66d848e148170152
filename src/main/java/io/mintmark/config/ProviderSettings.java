package io.mintmark.config;

import java.time.Duration;
import java.util.List;

/**
 * How access providers are called.
 *
 * @param timeout of one call, retries included
 */
public record ProviderSettings(Duration timeout) {
    static final Setting<Duration> TIMEOUT =
            Setting.of(
                    "provider.timeout",
                    Formats.duration(Duration.ofMillis(100), Duration.ofMinutes(1)),
                    "PT10S",
                    "Limit for a call to an access provider, retries included.");

    static final List<Setting<?>> TABLE = List.of(TIMEOUT);

    static ProviderSettings from(Values values) {
        return new ProviderSettings(values.get(TIMEOUT));
    }
}
