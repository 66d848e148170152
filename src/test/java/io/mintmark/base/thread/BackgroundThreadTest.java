package io.mintmark.base.thread;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;

class BackgroundThreadTest {
    private static final ThreadName NAME = ThreadName.HOUSEKEEPING;

    private final List<BackgroundThread> started = new ArrayList<>();

    private BackgroundThread started(BackgroundThread.Work work) {
        BackgroundThread thread = BackgroundThread.of(NAME, work).start();
        started.add(thread);
        return thread;
    }

    @AfterEach
    void stop() {
        started.forEach(thread -> assertTrue(thread.stop(Eventually.PATIENCE)));
        assertEquals(Optional.empty(), BackgroundThread.fault(NAME));
    }

    @Test
    void one_that_stands_still_shows_for_how_long() throws InterruptedException {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch going = new CountDownLatch(1);
        BackgroundThread thread =
                BackgroundThread.repeating(
                                NAME,
                                Duration.ZERO,
                                () -> {
                                    hanging.countDown();
                                    going.await();
                                    return Duration.ofDays(1);
                                })
                        .start();
        started.add(thread);
        hanging.await();

        Eventually.holds(
                () -> BackgroundThread.longestRound(NAME).compareTo(Duration.ofMillis(20)) > 0);
        assertEquals(Duration.ZERO, BackgroundThread.longestRound(ThreadName.AUDIT_SEALER));
        going.countDown();
        Eventually.holds(() -> BackgroundThread.longestRound(NAME).isZero());
    }

    @Test
    void one_that_throws_an_error_has_died() {
        started(() -> {
            throw new StackOverflowError("for the test");
        });

        Eventually.holds(() -> BackgroundThread.fault(NAME).isPresent());
        assertEquals(1, BackgroundThread.deaths(NAME));
        assertEquals(0, BackgroundThread.deaths(ThreadName.AUDIT_SEALER));
    }

    @Test
    void one_that_returns_before_it_is_stopped_has_died_too() {
        started(() -> {});
        started(() -> {
            throw new InterruptedException("for the test");
        });

        Eventually.holds(() -> BackgroundThread.deaths(NAME) == 2);
    }

    @Test
    void one_that_is_stopped_has_not_died_however_it_ends() {
        var signal = new CountDownLatch(1);
        BackgroundThread thread =
                started(() -> {
                    signal.await();
                    throw new IllegalStateException("for the test");
                });

        assertTrue(thread.isAlive());
        assertTrue(thread.stop(signal::countDown, Eventually.PATIENCE));
        assertFalse(thread.isAlive());
        assertEquals(0, BackgroundThread.deaths(NAME));
    }

    @Test
    void one_that_does_not_end_in_time_is_reported_and_ends_later_without_dying() {
        var signal = new CountDownLatch(1);
        BackgroundThread thread = started(signal::await);

        assertFalse(thread.stop(Duration.ofMillis(1)));
        assertTrue(thread.isAlive());
        signal.countDown();
        Eventually.holds(() -> !thread.isAlive());
        assertEquals(0, BackgroundThread.deaths(NAME));
    }

    @Test
    void one_that_repeats_goes_on_until_it_is_stopped_or_a_round_fails() {
        var rounds = new AtomicInteger();
        BackgroundThread thread =
                BackgroundThread.repeating(
                                NAME,
                                Duration.ZERO,
                                () -> {
                                    if (rounds.incrementAndGet() == 3) {
                                        throw new IllegalStateException("for the test");
                                    }
                                    return Duration.ofMillis(1);
                                })
                        .start();
        started.add(thread);

        Eventually.holds(() -> BackgroundThread.deaths(NAME) == 1);
        assertEquals(3, rounds.get());
    }

    @Test
    void an_executors_thread_may_end_once_the_executor_is_shut_down() throws Exception {
        ScheduledExecutorService executor = BackgroundThread.executor(NAME);
        Thread worker = executor.submit(Thread::currentThread).get();
        assertEquals(NAME.toString(), worker.getName());

        executor.shutdown();
        worker.join();
        assertEquals(0, BackgroundThread.deaths(NAME));
    }
}
