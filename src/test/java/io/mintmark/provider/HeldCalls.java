package io.mintmark.provider;

import io.mintmark.base.verdict.MintRefusal.Reason;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Calls to a provider that hangs until it's let go. */
final class HeldCalls {
    static final MintResult ANSWER = new MintResult.Failed(Reason.PROVIDER_ERROR, "it answered");

    private final AtomicInteger begun = new AtomicInteger();
    private final CountDownLatch end = new CountDownLatch(1);

    /** Hangs, whoever gives up meanwhile. */
    MintResult call() {
        begun.incrementAndGet();
        boolean interrupted = false;
        while (true) {
            try {
                end.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return ANSWER;
    }

    int begun() {
        return begun.get();
    }

    void letGo() {
        end.countDown();
    }
}
