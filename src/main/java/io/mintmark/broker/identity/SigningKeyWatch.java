package io.mintmark.broker.identity;

import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;

import java.time.Duration;
import java.util.Set;

/**
 * Has a broker look every few seconds whether its signing keys have changed. Notifications of the
 * file system would be faster and doesn't exist on every volume.
 */
public final class SigningKeyWatch implements AutoCloseable {
    private static final Duration PERIOD = Duration.ofSeconds(5);

    private final BuiltInIdentity identity;
    private final Set<String> auditKeys;
    private final BackgroundThread thread =
            BackgroundThread.repeating(ThreadName.SIGNING_KEYS, PERIOD, this::look);

    /**
     * @param auditKeys the thumbprints of the audit log's keys, which are refused
     */
    public SigningKeyWatch(BuiltInIdentity identity, Set<String> auditKeys) {
        this.identity = identity;
        this.auditKeys = auditKeys;
    }

    /** Watches the files from now on. */
    public SigningKeyWatch start() {
        var _ = thread.start();
        return this;
    }

    private Duration look() {
        identity.reload(auditKeys);
        return PERIOD;
    }

    @Override
    public void close() {
        thread.stop();
    }
}
