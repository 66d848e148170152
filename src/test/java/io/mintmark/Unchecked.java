package io.mintmark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

/** Runs what a test needs, where a checked exception can only fail the test. */
public final class Unchecked {
    /** Work without a result. */
    public interface Work {
        void run() throws Exception;
    }

    private Unchecked() {}

    public static void run(Work work) {
        call(() -> {
            work.run();
            return true;
        });
    }

    /** Waits until a latch is open, or for an interrupt, which stays set. */
    public static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The work's result; an interrupt stays set. */
    public static <T> T call(Callable<T> work) {
        try {
            return work.call();
        } catch (RuntimeException e) {
            throw e;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
