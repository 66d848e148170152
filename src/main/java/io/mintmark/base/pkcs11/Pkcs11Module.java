package io.mintmark.base.pkcs11;

import io.mintmark.base.config.Pkcs11Settings;
import io.mintmark.base.config.Pkcs11Uri;
import io.mintmark.base.thread.HelperThread;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The keys that a PKCS#11 library reaches. Each of eight platform threads has a session with the
 * token: a call into a library that hangs would hold up a virtual thread's carrier, and here the
 * caller stops waiting after ten seconds.
 */
public final class Pkcs11Module implements AutoCloseable {
    private static final int SESSIONS = 8;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final TokenLibrary library;
    private final ExecutorService threads = HelperThread.pool("pkcs11", SESSIONS);
    private final ThreadLocal<TokenSessions> sessions;

    private Pkcs11Module(TokenLibrary library) {
        this.library = library;
        this.sessions = ThreadLocal.withInitial(() -> new TokenSessions(library));
    }

    /** Work of a thread of the module, done with its sessions. */
    @FunctionalInterface
    private interface Work<T> {
        T with(TokenSessions sessions) throws CryptokiFailure;
    }

    /**
     * Loads the library.
     *
     * @throws TokenUnavailable if it can't be used
     */
    public static Pkcs11Module open(Pkcs11Settings settings) {
        try {
            Cryptoki functions = new Cryptoki(settings.module());
            functions.initialize();
            TokenSignatures.install();
            return new Pkcs11Module(new TokenLibrary(functions, settings.pin()));
        } catch (IllegalArgumentException | CryptokiFailure e) {
            throw TokenUnavailable.token(
                    "PKCS11_MODULE: can't load the PKCS#11 library '%s': %s"
                            .formatted(settings.module(), e.getMessage()));
        }
    }

    /**
     * A key pair, which must be P-256, or RSA of 2048 bits or more.
     *
     * @throws TokenUnavailable if there is none, or more than one
     */
    public TokenKey key(Pkcs11Uri uri) {
        return new TokenKey(this, uri, run(uri, false, each -> each.found(uri).publicKey()));
    }

    byte[] sign(TokenKey key, long mechanism, byte[] data) {
        return run(key.uri(), true, each -> each.sign(key, mechanism, data));
    }

    /**
     * Whatever fails is tried once more with new sessions, and then with a library that has looked
     * for its tokens again: that is how a token is used that was removed and came back. A key that
     * was never there doesn't disturb the others by that.
     */
    private <T> T run(Pkcs11Uri uri, boolean isKnown, Work<T> work) {
        Future<T> result = threads.submit(() -> attempt(uri, isKnown, work));
        try {
            return result.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            result.cancel(false);
            throw TokenUnavailable.token(
                    "%s: the PKCS#11 library didn't answer within %d seconds"
                            .formatted(uri, PATIENCE.toSeconds()));
        } catch (InterruptedException | CancellationException e) {
            Thread.currentThread().interrupt();
            throw TokenUnavailable.token(
                    uri + ": the wait for the PKCS#11 library was interrupted");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof TokenUnavailable why
                    ? why.again()
                    : new IllegalStateException("PKCS#11: " + uri, e.getCause());
        }
    }

    private <T> T attempt(Pkcs11Uri uri, boolean isKnown, Work<T> work) {
        try {
            return library.using(() -> work.with(sessions.get()));
        } catch (CryptokiFailure | TokenUnavailable first) {
            sessions.get().forget();
        }
        try {
            return library.using(() -> work.with(sessions.get()));
        } catch (CryptokiFailure | TokenUnavailable second) {
            if (!isKnown && second instanceof TokenUnavailable lacking && lacking.isOfKey()) {
                throw lacking;
            }
            sessions.get().forget();
            library.restart();
        }
        try {
            return library.using(() -> work.with(sessions.get()));
        } catch (CryptokiFailure e) {
            throw TokenUnavailable.token("%s: %s".formatted(uri, e.getMessage()));
        }
    }

    @Override
    public void close() {
        threads.shutdown();
        try {
            if (threads.awaitTermination(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                library.close();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
