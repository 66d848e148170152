package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

@Timeout(Eventually.SECONDS)
class InOrderTest {
    /** An item of this size is a batch of its own. */
    private static final int BATCH = 128 * 1024;

    private final List<Integer> results = new ArrayList<>();

    @Test
    void results_come_in_the_order_of_the_items_although_a_later_one_is_ready_first() {
        CountDownLatch second = new CountDownLatch(1);
        try (InOrder<Integer, Integer> items =
                new InOrder<>(2, item -> worked(item, second), results::add)) {
            IntStream.range(0, 20).forEach(item -> items.add(item, BATCH));
            items.flush();
        }
        assertEquals(IntStream.range(0, 20).boxed().toList(), results);
    }

    /** The first item waits for the second, so this returns only if two threads work at once. */
    private static int worked(int item, CountDownLatch second) {
        if (item == 0) {
            try {
                second.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        } else if (item == 1) {
            second.countDown();
        }
        return item;
    }

    @Test
    void no_more_batches_are_in_memory_than_threads_and_two() {
        int threads = 4;
        AtomicInteger inMemory = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        try (InOrder<Integer, Integer> items =
                new InOrder<>(
                        threads,
                        item -> item,
                        item -> {
                            inMemory.decrementAndGet();
                            results.add(item);
                        })) {
            for (int item = 0; item < 100; item++) {
                most.accumulateAndGet(inMemory.incrementAndGet(), Math::max);
                items.add(item, BATCH);
            }
            items.flush();
        }
        assertEquals(100, results.size());
        assertTrue(most.get() <= threads + 2, "as many as " + most);
    }

    @Test
    void a_failure_of_the_work_is_thrown_to_the_caller() {
        try (InOrder<Integer, Integer> items =
                new InOrder<>(
                        4,
                        item -> {
                            throw new IllegalArgumentException("item " + item);
                        },
                        results::add)) {
            items.add(7, 1);
            assertEquals(
                    "item 7",
                    assertThrows(IllegalArgumentException.class, items::flush).getMessage());
        }
        assertEquals(List.of(), results);
    }
}
