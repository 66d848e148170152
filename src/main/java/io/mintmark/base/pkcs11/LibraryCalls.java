package io.mintmark.base.pkcs11;

import io.mintmark.base.limit.SharedPermits;
import io.mintmark.base.limit.SharedPermits.Permit;
import io.mintmark.base.thread.HelperThread;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Calls of a PKCS#11 library by eight platform threads: a call that hangs would hold up a virtual
 * thread's carrier, and here the caller stops waiting. One owner's calls, those of a tenant's keys
 * or of the broker's own, take at most six threads, also when they hang, and few callers wait.
 */
final class LibraryCalls implements AutoCloseable {
    static final int THREADS = 8;
    static final int OF_OWNER = 6;

    /** Callers that wait or are served. */
    private static final int CALLERS = 512;

    static final int CALLERS_OF_OWNER = 128;

    private final Duration patience;
    private final ExecutorService threads = HelperThread.pool("pkcs11", THREADS);
    private final SharedPermits<String> served = new SharedPermits<>(THREADS, OF_OWNER);
    private final SharedPermits<String> callers = new SharedPermits<>(CALLERS, CALLERS_OF_OWNER);

    /**
     * @param patience of a caller, for its turn and the call together
     */
    LibraryCalls(Duration patience) {
        this.patience = patience;
    }

    /**
     * Runs a call.
     *
     * @param owner the tenant, or empty for the broker
     * @param key for messages
     * @throws TokenUnavailable if the call throws it, or isn't done in time
     */
    <T> T run(String owner, String key, Callable<T> call) {
        long until = System.nanoTime() + patience.toNanos();
        try (Permit _ =
                callers.acquire(owner, 1)
                        .orElseThrow(() ->
                                TokenUnavailable.token(
                                        "%s: %d calls are already waiting for the PKCS#11 library"
                                                .formatted(key, CALLERS_OF_OWNER)))) {
            return begun(owner, call, until).get(until - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw TokenUnavailable.token(
                    "%s: the PKCS#11 library didn't answer within %d seconds"
                            .formatted(key, patience.toSeconds()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw TokenUnavailable.token(
                    key + ": the wait for the PKCS#11 library was interrupted");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof TokenUnavailable why
                    ? why.again()
                    : new IllegalStateException("PKCS#11: " + key, e.getCause());
        }
    }

    /**
     * Starts a call. Its permit is returned when the call ends, not when its caller stops waiting.
     */
    private <T> Future<T> begun(String owner, Callable<T> call, long until)
            throws TimeoutException, InterruptedException {
        Optional<Permit> permit =
                served.acquire(owner, Duration.ofNanos(until - System.nanoTime()));
        if (Thread.interrupted()) {
            permit.ifPresent(Permit::close);
            throw new InterruptedException();
        }
        Permit held = permit.orElseThrow(TimeoutException::new);
        return threads.submit(() -> {
            try (held) {
                return call.call();
            }
        });
    }

    /** Whether all calls have ended. Waits for them for as long as a caller would. */
    boolean end() {
        threads.shutdown();
        try {
            return threads.awaitTermination(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
