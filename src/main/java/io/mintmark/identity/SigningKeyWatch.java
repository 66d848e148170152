package io.mintmark.identity;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Has a broker look every few seconds whether its signing keys have changed. Notifications of the
 * file system would be faster and doesn't exist on every volume.
 */
public final class SigningKeyWatch implements AutoCloseable {
    private static final Duration PERIOD = Duration.ofSeconds(5);

    private final BuiltInIdentity identity;
    private final ScheduledExecutorService schedule =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().name("signing-keys").daemon().factory());

    public SigningKeyWatch(BuiltInIdentity identity) {
        this.identity = identity;
    }

    /** Looks from now on. */
    public SigningKeyWatch start() {
        var _ =
                schedule.scheduleWithFixedDelay(
                        identity::reload,
                        PERIOD.toMillis(),
                        PERIOD.toMillis(),
                        TimeUnit.MILLISECONDS);
        return this;
    }

    @Override
    public void close() {
        schedule.shutdownNow();
    }
}
