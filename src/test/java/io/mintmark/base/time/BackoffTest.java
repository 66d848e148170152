package io.mintmark.base.time;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.LongSummaryStatistics;
import java.util.Random;
import java.util.stream.IntStream;

class BackoffTest {
    private static final Backoff BACKOFF =
            new Backoff(Duration.ofMillis(100), Duration.ofMillis(5_000));

    private final Random random = new Random(1);

    private LongSummaryStatistics pauses(int before) {
        return IntStream.range(0, 20_000)
                .mapToLong(_ -> BACKOFF.pause(before, random).toMillis())
                .summaryStatistics();
    }

    @Test
    void pauses_double_and_are_at_random_up_to_half_shorter() {
        for (int before = 0; before < 5; before++) {
            long most = 100L << before;
            assertEquals(most, pauses(before).getMax());
            assertEquals(most / 2, pauses(before).getMin());
        }
    }

    @Test
    void no_number_of_pauses_makes_one_longer_than_the_longest() {
        for (int before : new int[] {6, 20, 63, 64, Integer.MAX_VALUE}) {
            assertEquals(5_000, pauses(before).getMax());
            assertEquals(2_500, pauses(before).getMin());
        }
    }
}
