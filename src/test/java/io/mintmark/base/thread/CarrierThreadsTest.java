package io.mintmark.base.thread;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

class CarrierThreadsTest {
    private static final Duration PERIOD = Duration.ofMillis(25);
    private static final List<Integer> RAISED = List.of(16);
    private static final List<Integer> LOWERED = List.of(16, 2);

    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private final List<Integer> set = new ArrayList<>();
    private long now = 1_000;
    private final CarrierThreads carriers =
            new CarrierThreads(
                    2,
                    task ->
                            new Thread() {
                                @Override
                                public void start() {
                                    waiting.add(task);
                                }
                            },
                    () -> now,
                    set::add);

    @Test
    void starts_in_time_change_nothing() {
        check(1_000, Duration.ofMillis(10));

        assertEquals(List.of(), set);
    }

    @Test
    void one_late_start_changes_nothing() {
        check(1, CarrierThreads.LATE.plusMillis(1));
        check(100, Duration.ofMillis(1));

        assertEquals(List.of(), set);
    }

    @Test
    void a_start_that_does_not_come_adds_carriers_once() {
        for (int i = 0; i < 100; i++) {
            pass(PERIOD);
        }

        assertEquals(RAISED, set);
    }

    @Test
    void late_starts_keep_the_added_carriers() {
        check(1_000, CarrierThreads.LATE.plusMillis(1));

        assertEquals(RAISED, set);
    }

    @Test
    void calm_takes_them_away_again() {
        check(10, CarrierThreads.LATE.plusMillis(1));
        assertEquals(RAISED, set);

        int calm = (int) CarrierThreads.CALM.dividedBy(PERIOD);
        check(calm / 2, Duration.ofMillis(1));
        assertEquals(RAISED, set);
        check(calm, Duration.ofMillis(1));
        assertEquals(LOWERED, set);
    }

    /** Rounds in each of which the virtual thread starts this late. */
    private void check(int rounds, Duration late) {
        for (int i = 0; i < rounds; i++) {
            pass(PERIOD);
            now += late.toNanos();
            waiting.remove().run();
        }
    }

    private void pass(Duration time) {
        now += time.toNanos();
        assertEquals(PERIOD, carriers.check());
    }
}
