package io.mintmark.base.pkcs11;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

class LibraryCallsTest {
    @AutoClose private final LibraryCalls calls = new LibraryCalls(Eventually.PATIENCE);

    @AutoClose("shutdownNow")
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

    private final CountDownLatch answered = new CountDownLatch(1);
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();

    /** Many calls of an owner whose key hangs. */
    private void hang(LibraryCalls hanging, String owner, int count, CountDownLatch begun) {
        for (int i = 0; i < count; i++) {
            Future<?> _ =
                    callers.submit(() -> {
                        waiting.incrementAndGet();
                        try {
                            return hanging.run(
                                    owner,
                                    owner + "/ca",
                                    () -> {
                                        begun.countDown();
                                        answered.await();
                                        return "";
                                    });
                        } finally {
                            ended.incrementAndGet();
                        }
                    });
        }
    }

    @Test
    void a_tenant_whose_key_hangs_leaves_sessions_to_others() throws Exception {
        CountDownLatch begun = new CountDownLatch(LibraryCalls.OF_OWNER);
        hang(calls, "acme", LibraryCalls.CALLERS_OF_OWNER, begun);
        assertTrue(begun.await(Eventually.SECONDS, TimeUnit.SECONDS));

        assertEquals("signed", calls.run("other", "other/ca", () -> "signed"));
        assertEquals("own", calls.run("", "broker", () -> "own"));
        answered.countDown();
    }

    @Test
    void callers_beyond_the_bound_are_refused_at_once() throws Exception {
        CountDownLatch begun = new CountDownLatch(LibraryCalls.OF_OWNER);
        hang(calls, "acme", 2 * LibraryCalls.CALLERS_OF_OWNER, begun);
        assertTrue(begun.await(Eventually.SECONDS, TimeUnit.SECONDS));

        Eventually.holds(() -> waiting.get() == 2 * LibraryCalls.CALLERS_OF_OWNER);

        String message =
                String.valueOf(
                        assertThrows(
                                        TokenUnavailable.class,
                                        () -> calls.run("acme", "acme/ca", () -> ""))
                                .getMessage());

        assertTrue(message.contains("128 calls are already waiting"), message);
        answered.countDown();
    }

    /** Its thread is not free before the library returns, whoever waits for it. */
    @Test
    void a_call_keeps_its_session_after_its_caller_gave_up() throws Exception {
        try (LibraryCalls hasty = new LibraryCalls(Duration.ofMillis(100))) {
            CountDownLatch begun = new CountDownLatch(LibraryCalls.OF_OWNER);
            hang(hasty, "acme", LibraryCalls.OF_OWNER, begun);
            assertTrue(begun.await(Eventually.SECONDS, TimeUnit.SECONDS));
            Eventually.holds(() -> ended.get() == LibraryCalls.OF_OWNER);

            assertThrows(TokenUnavailable.class, () -> hasty.run("acme", "acme/ca", () -> ""));
            assertEquals("signed", hasty.run("other", "other/ca", () -> "signed"));

            answered.countDown();
        }
    }
}
