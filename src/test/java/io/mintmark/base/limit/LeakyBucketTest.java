package io.mintmark.base.limit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

class LeakyBucketTest {
    /** Close to where {@code long} ends, because the origin of real nanoseconds is anywhere. */
    private static final long START = Long.sum(Long.MAX_VALUE, -500);

    @Test
    void what_was_added_is_worked_off_in_order() {
        LeakyBucket bucket = new LeakyBucket(START);
        assertEquals(0, bucket.add(START, 100));
        assertEquals(100, bucket.add(START, 50));
        assertEquals(90, bucket.add(START + 60, 1));
        assertEquals(91, bucket.untilEmpty(START + 60));
    }

    @Test
    void an_empty_bucket_saves_nothing_up() {
        LeakyBucket bucket = new LeakyBucket(START);
        assertEquals(0, bucket.add(START + 1_000, 100));
        assertEquals(100, bucket.add(START + 1_000, 100));
    }

    /** A queue that works off one unit at each tick is the plainest thing that could be right. */
    @RepeatedTest(20)
    void any_costs_at_any_times_fill_it_as_they_fill_a_queue(RepetitionInfo repetition) {
        Random random = new Random(repetition.getCurrentRepetition());
        LeakyBucket bucket = new LeakyBucket(START);
        long queued = 0;
        long now = START;
        for (int i = 0; i < 1_000; i++) {
            int pause = random.nextInt(20);
            now += pause;
            queued = Math.max(0, queued - pause);
            int cost = random.nextInt(15);
            assertEquals(queued, bucket.add(now, cost), "step " + i);
            queued += cost;
            assertEquals(queued, Math.max(0, bucket.untilEmpty(now)), "step " + i);
        }
    }

    @Test
    void costs_at_the_same_time_add_up() {
        LeakyBucket bucket = new LeakyBucket(START);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 100; i++) {
                threads.execute(() -> {
                    for (int j = 0; j < 100; j++) {
                        assertTrue(bucket.add(START, 3) >= 0);
                    }
                });
            }
        }
        assertEquals(30_000, bucket.untilEmpty(START));
    }
}
