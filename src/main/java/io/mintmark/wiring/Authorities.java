package io.mintmark.wiring;

import io.mintmark.outbound.GuardedHttp;

import org.jspecify.annotations.Nullable;

import java.security.GeneralSecurityException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Whom the Java platform trusts, read ahead of the first connection and kept from then on. */
final class Authorities {
    private final CompletableFuture<@Nullable Void> reading = new CompletableFuture<>();

    private Authorities() {}

    /** Begins to read them, on a thread of its own while the start waits for its database. */
    static Authorities reading() {
        Authorities authorities = new Authorities();
        Thread.ofPlatform().name("authorities").daemon().start(authorities::complete);
        return authorities;
    }

    private void complete() {
        try {
            read();
            reading.complete(null);
        } catch (RuntimeException | Error e) {
            reading.completeExceptionally(e);
        }
    }

    /**
     * Waits until they are read.
     *
     * @throws StartFailed if they can't be
     */
    void await() {
        try {
            var _ = reading.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof StartFailed failed ? failed : e;
        }
    }

    /**
     * Reads them.
     *
     * @throws StartFailed if they can't be read
     */
    static void read() {
        try {
            GuardedHttp.readAuthorities();
        } catch (GeneralSecurityException e) {
            throw new StartFailed(
                    "the certificate authorities of the Java platform can't be read, see"
                            + " javax.net.ssl.* in JAVA_OPTS: "
                            + reason(e).getMessage());
        }
    }

    /** The JDK wraps what happened, and says there only what it was about to do. */
    private static Throwable reason(Throwable failure) {
        Throwable reason = failure;
        while (reason.getCause() != null) {
            reason = reason.getCause();
        }
        return reason;
    }
}
