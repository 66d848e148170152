package io.mintmark.base.thread;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

class KeyedTasksTest {
    private final KeyedTasks<String> tasks = new KeyedTasks<>(2);
    private final CountDownLatch gate = new CountDownLatch(1);
    private final AtomicInteger done = new AtomicInteger();

    @AfterEach
    void letGo() {
        gate.countDown();
        tasks.awaitIdle(Eventually.PATIENCE);
    }

    private boolean start(String key) {
        return tasks.start(
                key,
                "test-" + key,
                _ -> true,
                () -> {
                    Unchecked.await(gate);
                    done.incrementAndGet();
                });
    }

    @Test
    void a_key_has_one_task_at_a_time_and_all_keys_so_many() {
        assertTrue(start("a"));
        assertFalse(start("a"));
        assertEquals(1, tasks.free());
        assertTrue(start("b"));
        assertEquals(0, tasks.free());
        assertFalse(start("c"));
    }

    @Test
    void a_task_that_may_not_run_beside_others_is_not_started() {
        assertTrue(start("a"));
        assertFalse(tasks.start("b", "test-b", running -> !running.contains("a"), () -> {}));
        assertTrue(tasks.start("b", "test-b", running -> running.size() == 1, () -> {}));
    }

    @Test
    void an_ended_or_failed_task_leaves_its_key_to_another() {
        assertTrue(
                tasks.start(
                        "a",
                        "test-a",
                        _ -> true,
                        () -> {
                            Thread.currentThread().setUncaughtExceptionHandler((_, _) -> {});
                            throw new IllegalStateException("for the test");
                        }));
        Eventually.holds(() -> start("a"));
    }

    @Test
    void idle_is_awaited_until_the_tasks_have_ended_or_the_time_is_over() {
        start("a");
        tasks.awaitIdle(Duration.ofMillis(1));
        assertEquals(0, done.get());
        gate.countDown();
        tasks.awaitIdle(Eventually.PATIENCE);
        assertEquals(1, done.get());
    }
}
