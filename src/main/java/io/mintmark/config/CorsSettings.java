package io.mintmark.config;

import java.util.List;
import java.util.Set;

/**
 * Which browser applications may call the broker.
 *
 * @param allowedOrigins as browsers send them; none of them is {@code *}
 */
public record CorsSettings(Set<String> allowedOrigins) {
    static final Setting<List<String>> ALLOWED_ORIGINS =
            Setting.of(
                    "cors.allowed-origins",
                    UrlFormats.ORIGIN.list(),
                    "Origins of the browser applications that may call the broker.");

    static final List<Setting<?>> TABLE = List.of(ALLOWED_ORIGINS);

    public CorsSettings {
        allowedOrigins = Set.copyOf(allowedOrigins);
    }

    static CorsSettings from(Values values) {
        return new CorsSettings(Set.copyOf(values.find(ALLOWED_ORIGINS).orElse(List.of())));
    }
}
