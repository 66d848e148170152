package io.mintmark.base.pkcs11;

import io.mintmark.base.config.Pkcs11Uri;

import java.security.PublicKey;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** One thread's sessions, one for each token, and the keys that they have found. */
final class TokenSessions {
    private final TokenLibrary library;
    private final Map<Optional<String>, Long> byToken = new HashMap<>();
    private final Map<Pkcs11Uri, Found> keys = new HashMap<>();
    private long generation;
    private long keysSeen;

    TokenSessions(TokenLibrary library) {
        this.library = library;
        this.generation = library.generation();
    }

    /** A key pair in a session's token. */
    record Found(long session, long privateKey, PublicKey publicKey) {}

    byte[] sign(TokenKey key, long mechanism, byte[] data) throws CryptokiFailure {
        Found found = found(key.uri());
        if (!found.publicKey().equals(key.publicKey())) {
            library.replaced();
            throw TokenUnavailable.key(
                    key.uri()
                            + ": the PKCS#11 token now has a different key from the one that the broker published");
        }
        return library.functions().sign(found.session(), found.privateKey(), mechanism, data);
    }

    /** A key pair, looked up once for each session. */
    Found found(Pkcs11Uri uri) throws CryptokiFailure {
        if (keysSeen != library.keysReplaced()) {
            keys.clear();
            keysSeen = library.keysReplaced();
        }
        if (generation != library.generation()) {
            byToken.clear();
            keys.clear();
            generation = library.generation();
        }
        Found known = keys.get(uri);
        if (known == null) {
            long session = session(uri.token());
            known = new KeySearch(library.functions(), session).find(uri);
            keys.put(uri, known);
        }
        return known;
    }

    private long session(Optional<String> token) throws CryptokiFailure {
        Long open = byToken.get(token);
        if (open != null) {
            return open;
        }
        long session = library.open(token);
        byToken.put(token, session);
        library.login(session);
        return session;
    }

    /** Closes all sessions. The next use opens new ones. */
    void forget() {
        try {
            var _ =
                    library.using(() -> {
                        if (generation == library.generation()) {
                            for (long session : byToken.values()) {
                                library.close(session);
                            }
                        }
                        return byToken.size();
                    });
        } catch (CryptokiFailure e) {
            // the session is gone already, which is why it is forgotten
        }
        byToken.clear();
        keys.clear();
    }
}
