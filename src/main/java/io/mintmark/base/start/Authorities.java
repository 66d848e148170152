package io.mintmark.base.start;

import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.thread.HelperThread;

import java.security.GeneralSecurityException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The authorities that the Java platform trusts, read ahead of the first connection and kept from
 * then on.
 */
public final class Authorities {
    private final CompletableFuture<Void> reading;

    private Authorities(CompletableFuture<Void> reading) {
        this.reading = reading;
    }

    /** Begins to read them, on a thread of its own while the start waits for its database. */
    public static Authorities reading() {
        return new Authorities(
                CompletableFuture.runAsync(
                        Authorities::read, task -> HelperThread.start("authorities", task)));
    }

    /**
     * Waits until the authorities are read.
     *
     * @throws StartFailed if they can't be read
     */
    public void await() {
        try {
            var _ = reading.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof StartFailed failed ? failed : e;
        }
    }

    /**
     * Reads the authorities.
     *
     * @throws StartFailed if they can't be read
     */
    public static void read() {
        try {
            GuardedHttp.readAuthorities();
        } catch (GeneralSecurityException e) {
            throw new StartFailed(
                    "the certificate authorities of the Java platform can't be read (%s); check javax.net.ssl.* in JAVA_OPTS"
                            .formatted(reason(e).getMessage()));
        }
    }

    /** The cause of a failure. The JDK's outer exception only says what it was about to do. */
    private static Throwable reason(Throwable failure) {
        Throwable reason = failure;
        while (reason.getCause() != null) {
            reason = reason.getCause();
        }
        return reason;
    }
}
