package io.mintmark.console.pages.activity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.console.pages.activity.Activity.Part;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Lengths of bars. */
class ChartTest {
    private static final Instant START = Instant.parse("2026-03-29T00:00:00Z");

    private static Part part(int hour, long mints, long refusals, long failures) {
        Instant from = START.plus(Duration.ofHours(hour));
        return new Part(
                from,
                from.plus(Duration.ofHours(1)),
                new Count(mints, false),
                new Count(refusals, false),
                new Count(failures, false));
    }

    private static Chart chart(Part... parts) {
        return Chart.of(new Activity(List.of(parts), "hour"), "/mints");
    }

    @Test
    void twice_as_many_mints_are_twice_as_long() {
        Chart chart = chart(part(0, 400, 0, 0), part(1, 200, 0, 0));

        int whole = chart.minted(chart.activity().parts().getFirst()).height();

        assertEquals(whole, 2 * chart.minted(chart.activity().parts().getLast()).height());
        assertEquals(List.of("400", "200"), chart.lines().stream().map(Chart.Line::label).toList());
    }

    @Test
    void refusals_are_seen_beside_very_many_mints() {
        Chart chart = chart(part(0, 1_000_000, 4, 4), part(1, 0, 8, 0));

        assertEquals(
                2 * chart.refused(chart.activity().parts().getFirst()).height(),
                chart.refused(chart.activity().parts().getLast()).height());
        assertEquals("8", chart.mostWrong());
    }

    @Test
    void the_part_in_progress_is_marked_as_such() {
        Part part = part(0, 1, 0, 0);

        assertTrue(Chart.isRunning(part, part.from()));
        assertFalse(Chart.isRunning(part, part.to()));
    }
}
