package io.mintmark.base.config;

import java.util.Locale;
import java.util.Optional;

/**
 * A setting for operators.
 *
 * @param key its key in the configuration file
 * @param format its syntax
 * @param fallback its default, if any
 * @param required whether every broker needs it; others may be required by other settings
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
