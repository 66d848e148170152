package io.mintmark.base.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

class ClocksTest {
    private static final Instant NOON = Instant.parse("2026-03-04T12:00:00Z");

    private Instant own = NOON;
    private Duration passed = Duration.ZERO;
    private final Clocks clocks = new Clocks(() -> own, () -> passed.toNanos());

    /** The database is asked, and shows this time. */
    private void asked(Instant time, Duration answering) {
        var _ =
                clocks.asking(
                        () -> {
                            pass(answering);
                            return time;
                        },
                        answer -> answer);
    }

    private void pass(Duration time) {
        passed = passed.plus(time);
        own = own.plus(time);
    }

    @Test
    void before_the_database_was_asked_the_replicas_clock_is_alone() {
        assertEquals(TimeBounds.of(NOON), clocks.now());
        assertEquals(Optional.empty(), clocks.fault());
        assertEquals(Instant.MIN, clocks.database());
    }

    @Test
    void now_is_between_the_two_clocks_whichever_is_ahead() {
        asked(NOON.plusSeconds(20), Duration.ZERO);
        assertEquals(new TimeBounds(NOON, NOON.plusSeconds(20)), clocks.now());

        asked(NOON.minusSeconds(20), Duration.ZERO);
        assertEquals(new TimeBounds(NOON.minusSeconds(20), NOON), clocks.now());
    }

    @Test
    void the_databases_clock_goes_on_while_the_replicas_is_set_back() {
        asked(NOON, Duration.ZERO);
        pass(Duration.ofSeconds(100));
        own = NOON;

        assertEquals(new TimeBounds(NOON, NOON.plusSeconds(100)), clocks.now());
        assertTrue(clocks.fault().orElseThrow().contains("100 s behind"), clocks::toString);
    }

    @Test
    void a_slow_answer_makes_no_difference_between_clocks_that_agree() {
        asked(NOON.plusSeconds(1), Duration.ofSeconds(9));

        assertEquals(TimeBounds.of(NOON.plusSeconds(9)), clocks.now());
        assertEquals(NOON.plusSeconds(1), clocks.database());
        assertEquals(Optional.empty(), clocks.fault());
    }

    @ParameterizedTest
    @ValueSource(longs = {-31, 31, -3600, 3600})
    void over_thirty_seconds_are_a_fault(long ahead) {
        asked(NOON.minusSeconds(ahead), Duration.ZERO);

        String fault = clocks.fault().orElseThrow();
        assertTrue(fault.contains(ahead < 0 ? "behind" : "ahead of"), fault);
        assertTrue(fault.contains(Math.abs(ahead) + " s"), fault);
    }

    @ParameterizedTest
    @ValueSource(longs = {-30, 0, 30})
    void up_to_thirty_seconds_are_none(long ahead) {
        asked(NOON.minusSeconds(ahead), Duration.ZERO);

        assertEquals(Optional.empty(), clocks.fault());
    }

    @Test
    void a_difference_that_the_time_of_the_answer_may_explain_is_no_fault() {
        asked(NOON.minusSeconds(5), Duration.ofSeconds(40));
        assertEquals(Optional.empty(), clocks.fault());

        asked(own.minusSeconds(50), Duration.ZERO);
        assertTrue(clocks.fault().isPresent());
    }

    @Test
    void what_begins_needs_both_clocks_and_what_ends_only_one() {
        var now = new TimeBounds(NOON, NOON.plusSeconds(20));

        assertTrue(now.isFrom(NOON));
        assertFalse(now.isFrom(NOON.plusNanos(1)));
        assertTrue(now.isBefore(NOON.plusSeconds(20).plusNanos(1)));
        assertFalse(now.isBefore(NOON.plusSeconds(20)));
    }
}
