package io.mintmark.console.pages.activity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.console.pages.activity.Activity.Part;
import io.mintmark.console.pages.activity.Chart.Scale;

import org.junit.jupiter.api.Test;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

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

        int whole = length(chart, 0, Scale.LINEAR);

        assertEquals(whole, 2 * length(chart, 1, Scale.LINEAR));
        assertEquals(List.of("400", "200"), labels(chart, Scale.LINEAR));
    }

    private static int length(Chart chart, int part, Scale scale) {
        return chart.minted(chart.activity().parts().get(part), scale).height();
    }

    private static List<String> labels(Chart chart, Scale scale) {
        return chart.lines(scale).stream().map(Chart.Line::label).toList();
    }

    @Test
    void ten_times_as_many_mints_are_longer_by_the_same_length_on_a_logarithmic_scale() {
        Chart chart = chart(part(0, 40_000, 0, 0), part(1, 4_000, 0, 0), part(2, 400, 0, 0));

        int first = length(chart, 0, Scale.LOGARITHMIC) - length(chart, 1, Scale.LOGARITHMIC);
        int second = length(chart, 1, Scale.LOGARITHMIC) - length(chart, 2, Scale.LOGARITHMIC);

        assertEquals(first, second, 1);
        assertTrue(first > 10, first + " px");
        assertEquals(
                List.of("1", "10", "100", "1,000", "10,000"), labels(chart, Scale.LOGARITHMIC));
    }

    @Test
    void lines_of_very_many_mints_are_far_enough_from_each_other_to_be_read() {
        Chart chart =
                Chart.low(new Activity(List.of(part(0, 1_000_000_000, 0, 0)), "hour"), "/mints");

        List<Integer> heights = chart.lines(Scale.LOGARITHMIC).stream().map(Chart.Line::y).toList();

        assertTrue(heights.size() > 2, heights::toString);
        for (int line = 1; line < heights.size(); line++) {
            assertTrue(heights.get(line - 1) - heights.get(line) >= 13, heights::toString);
        }
    }

    @Test
    void the_file_has_the_numbers_that_are_seen_and_says_which_are_bounds() {
        Part bounded =
                new Part(
                        START.plus(Duration.ofHours(1)),
                        START.plus(Duration.ofHours(2)),
                        new Count(8_000, true),
                        Count.NONE,
                        Count.NONE);

        String file = chart(part(0, 3, 2, 1), bounded).file().address();

        assertEquals(
                """
                data:text/csv;charset=utf-8,from,to,mints,refusals,failures,counted
                "2026-03-29T00:00:00Z","2026-03-29T01:00:00Z","3","2","1","all"
                "2026-03-29T01:00:00Z","2026-03-29T02:00:00Z","8000","0","0","at least"
                """
                        .replace("\n", "\r\n"),
                URLDecoder.decode(file, StandardCharsets.UTF_8));
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
    void parts_before_the_logs_first_row_are_left_out_but_for_a_few_beside_very_few() {
        List<Part> parts =
                IntStream.range(0, 24)
                        .mapToObj(hour -> part(hour, hour < 10 ? 0 : 5, 0, 0))
                        .toList();
        Instant tenth = START.plus(Duration.ofHours(10)).plusSeconds(5);

        assertEquals(parts, Activity.since(parts, Optional.empty()));
        assertEquals(parts, Activity.since(parts, Optional.of(START)));
        assertEquals(parts.subList(10, 24), Activity.since(parts, Optional.of(tenth)));
        assertEquals(
                parts.subList(17, 24),
                Activity.since(parts, Optional.of(START.plus(Duration.ofDays(9)))));
        assertEquals(
                parts.subList(0, 3),
                Activity.since(parts.subList(0, 3), Optional.of(START.plus(Duration.ofDays(9)))));
    }

    @Test
    void other_times_are_those_before_and_around_and_after_what_is_over() {
        Chart chart = Chart.of(new Activity(List.of(part(2, 1, 0, 0)), "hour"), "/mints?key=a");

        assertEquals(
                List.of(
                        "← Earlier /mints?key=a&from=2026-03-29%2001%3A00&to=2026-03-29%2002%3A00",
                        "Zoom out /mints?key=a&from=2026-03-29%2001%3A00&to=2026-03-29%2003%3A00"),
                links(chart, START.plus(Duration.ofHours(3))));
        assertEquals(
                "Later → /mints?key=a&from=2026-03-29%2003%3A00&to=2026-03-29%2004%3A00",
                links(chart, START.plus(Duration.ofHours(5))).get(1));
    }

    private static List<String> links(Chart chart, Instant now) {
        return OtherTimes.of(chart, now).stream()
                .map(one -> one.text() + " " + one.address())
                .toList();
    }

    @Test
    void the_part_in_progress_is_marked_as_such() {
        Part part = part(0, 1, 0, 0);

        assertTrue(Chart.isRunning(part, part.from()));
        assertFalse(Chart.isRunning(part, part.to()));
    }
}
