package io.mintmark.base.start;

import io.helidon.config.Config;
import io.helidon.service.registry.Services;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Keeps settings away that are not Mintmark's: Helidon's libraries would take some from {@code
 * application.yaml} in the working directory, from system properties and from variables of the
 * environment, such as {@code METRICS_ENABLED}.
 */
public final class NoHelidonConfig {
    /** The registry takes a configuration once, before any library asks for it. */
    private static final AtomicBoolean SET = new AtomicBoolean();

    private NoHelidonConfig() {}

    /**
     * Keeps Helidon from reading configuration of its own, in the whole process and from now on.
     */
    public static void only() {
        if (!SET.getAndSet(true)) {
            Services.set(Config.class, Config.empty());
        }
    }
}
