package io.mintmark.base.pkcs11;

import io.mintmark.base.config.Pkcs11Settings;
import io.mintmark.base.config.Pkcs11Uri;

import java.security.interfaces.EdECPublicKey;
import java.time.Duration;

/**
 * The keys that a PKCS#11 library reaches. Each thread of {@link LibraryCalls} has a session with
 * the token. A caller stops waiting after ten seconds.
 */
public final class Pkcs11Module implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final TokenLibrary library;
    private final LibraryCalls calls = new LibraryCalls(PATIENCE);
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
        TokenKey key = any(uri);
        if (key.publicKey() instanceof EdECPublicKey) {
            throw TokenUnavailable.key(uri + " is neither a P-256 nor an RSA key");
        }
        return key;
    }

    /**
     * An Ed25519 key pair.
     *
     * @throws TokenUnavailable if there is none, or more than one
     */
    public TokenKey ed25519(Pkcs11Uri uri) {
        TokenKey key = any(uri);
        if (!(key.publicKey() instanceof EdECPublicKey)) {
            throw TokenUnavailable.key(uri + " must be an Ed25519 key");
        }
        return key;
    }

    private TokenKey any(Pkcs11Uri uri) {
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
        return calls.run(owner(uri), uri.toString(), () -> attempt(uri, isKnown, work));
    }

    /** The tenant whose key it is, by the beginning of its label; empty for the broker's own. */
    private static String owner(Pkcs11Uri uri) {
        String label = uri.object().orElse("");
        return label.substring(0, Math.max(0, label.indexOf('/')));
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
        if (calls.end()) {
            library.close();
        }
    }
}
