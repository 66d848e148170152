package io.mintmark.base.pkcs11;

import io.mintmark.base.config.Password;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A library with its logins. It is restarted only while no thread is in a call of it. */
final class TokenLibrary {
    private static final Duration BETWEEN_RESTARTS = Duration.ofSeconds(2);
    private static final Duration RESTART_PATIENCE = Duration.ofSeconds(1);

    private final Cryptoki functions;
    private final Optional<Password> pin;
    private final ReadWriteLock calls = new ReentrantReadWriteLock();
    private final Set<Long> open = ConcurrentHashMap.newKeySet();
    private final AtomicLong generation = new AtomicLong();
    private final AtomicLong keysReplaced = new AtomicLong();
    private long restarted = System.nanoTime() - BETWEEN_RESTARTS.toNanos();
    private @Nullable String refusedPin;

    TokenLibrary(Cryptoki functions, Optional<Password> pin) {
        this.functions = functions;
        this.pin = pin;
    }

    /** Calls of the library. */
    @FunctionalInterface
    interface Calls<T> {
        T run() throws CryptokiFailure;
    }

    Cryptoki functions() {
        return functions;
    }

    /** Grows at each start: sessions of a former one are gone. */
    long generation() {
        return generation.get();
    }

    /** Grows when a key isn't the one that was found: then each thread looks them up again. */
    long keysReplaced() {
        return keysReplaced.get();
    }

    void replaced() {
        keysReplaced.incrementAndGet();
    }

    <T> T using(Calls<T> work) throws CryptokiFailure {
        calls.readLock().lock();
        try {
            return work.run();
        } finally {
            calls.readLock().unlock();
        }
    }

    /**
     * Restarts the library to find tokens again, at most every two seconds, and not while a call
     * hangs.
     */
    void restart() {
        try {
            if (!calls.writeLock().tryLock(RESTART_PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        try {
            if (System.nanoTime() - restarted >= BETWEEN_RESTARTS.toNanos()) {
                restarted = System.nanoTime();
                generation.incrementAndGet();
                open.clear();
                functions.restart();
            }
        } catch (CryptokiFailure e) {
            throw TokenUnavailable.token("the PKCS#11 library can't be started: " + e.getMessage());
        } finally {
            calls.writeLock().unlock();
        }
    }

    /**
     * Opens a session.
     *
     * @param token its token's label; empty for the only one
     */
    long open(Optional<String> token) throws CryptokiFailure {
        long session = functions.openSession(slot(token));
        open.add(session);
        return session;
    }

    void close(long session) throws CryptokiFailure {
        open.remove(session);
        functions.closeSession(session);
    }

    /** Closes all sessions, which ends the logins. */
    void close() {
        for (long session : open) {
            try {
                using(() -> {
                    close(session);
                    return session;
                });
            } catch (CryptokiFailure e) {
                // it is gone already
            }
        }
    }

    private long slot(Optional<String> token) throws CryptokiFailure {
        List<Cryptoki.Slot> slots = functions.slots();
        List<Cryptoki.Slot> fitting =
                slots.stream()
                        .filter(slot -> token.isEmpty() || token.get().equals(slot.token()))
                        .toList();
        if (fitting.size() == 1) {
            return fitting.getFirst().id();
        }
        String shown = slots.stream().map(Cryptoki.Slot::token).sorted().toList().toString();
        throw TokenUnavailable.token(
                token.map(label ->
                                "the PKCS#11 library has %s token '%s'; its tokens: %s"
                                        .formatted(
                                                fitting.isEmpty() ? "no" : "more than one",
                                                label,
                                                shown))
                        .orElseGet(() ->
                                "the PKCS#11 library has the tokens %s; add token= to the URI of the key to choose one"
                                        .formatted(shown)));
    }

    /**
     * Logs in. A PIN that was refused isn't tried again until its file changes, because tokens lock
     * themselves after a few wrong ones.
     */
    synchronized void login(long session) throws CryptokiFailure {
        if (pin.isEmpty()) {
            return;
        }
        String now = pin.get().revealAgain();
        if (now.equals(refusedPin)) {
            throw TokenUnavailable.token(
                    "the PKCS#11 token rejected the PIN in PKCS11_PIN_FILE: correct the PIN in"
                            + " that file");
        }
        try {
            functions.login(session, now);
            refusedPin = null;
        } catch (CryptokiFailure e) {
            if (e.code() == CryptokiFailure.PIN_INCORRECT
                    || e.code() == CryptokiFailure.PIN_LOCKED) {
                refusedPin = now;
            }
            throw e;
        }
    }
}
