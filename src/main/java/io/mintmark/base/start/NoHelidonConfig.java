package io.mintmark.base.start;

import io.helidon.common.config.Config;
import io.helidon.common.config.GlobalConfig;

/**
 * Keeps settings away that are not Mintmark's: Helidon's libraries would take some from {@code
 * application.yaml} in the working directory, from system properties and from variables of the
 * environment, such as {@code METRICS_ENABLED}.
 */
public final class NoHelidonConfig {
    private NoHelidonConfig() {}

    /** Applies to the whole process from now on. */
    public static void only() {
        var _ = GlobalConfig.config(Config::empty, true);
    }
}
