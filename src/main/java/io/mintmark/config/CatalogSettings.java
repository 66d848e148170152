package io.mintmark.config;

import java.time.Duration;
import java.util.List;

/**
 * How fresh the broker's view of the tables is.
 *
 * @param maxStaleness how old it may get without the database having been asked
 */
public record CatalogSettings(Duration maxStaleness) {
    static final Setting<Duration> MAX_STALENESS =
            Setting.of(
                    "catalog.max-staleness",
                    Formats.duration(Duration.ofMillis(100), Duration.ofHours(1)),
                    "PT10S",
                    "Maximum age of cached configuration while the database is unavailable.");

    static final List<Setting<?>> TABLE = List.of(MAX_STALENESS);

    static CatalogSettings from(Values values) {
        return new CatalogSettings(values.get(MAX_STALENESS));
    }
}
