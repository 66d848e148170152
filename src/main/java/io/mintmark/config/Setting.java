package io.mintmark.config;

import java.util.Locale;
import java.util.Optional;

/**
 * One thing that operators can set.
 *
 * @param key its key in the configuration file
 * @param format what it may be
 * @param fallback what it is when nobody sets it, if it is anything then
 * @param required whether no broker can do without it; others may be needed because of what else is
 *     set
 * @param meaning a sentence for the operator
 */
record Setting<T>(
        String key, Format<T> format, Optional<String> fallback, boolean required, String meaning) {

    static <T> Setting<T> of(String key, Format<T> format, String fallback, String meaning) {
        return new Setting<>(key, format, Optional.of(fallback), false, meaning);
    }

    static <T> Setting<T> of(String key, Format<T> format, String meaning) {
        return new Setting<>(key, format, Optional.empty(), false, meaning);
    }

    static <T> Setting<T> required(String key, Format<T> format, String meaning) {
        return new Setting<>(key, format, Optional.empty(), true, meaning + " Required.");
    }

    /**
     * The environment variable: the key in capitals, with {@code _} for dots and hyphens. {@code
     * rate-limit.requests} is {@code RATE_LIMIT_REQUESTS}.
     */
    String name() {
        return key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }
}
