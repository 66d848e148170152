package io.mintmark.base.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

class ProgressTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    10000   | 0         | PT1S  | 10,000 rows
                    10000   | 9000      | PT1S  | 10,000 rows
                    10000   | 1000000   | PT1S  | 10,000 of 1,000,000 rows, about 99 seconds left
                    500000  | 1000000   | PT5M  | 500,000 of 1,000,000 rows, about 5 minutes left
                    1000000 | 630000000 | PT10S | 1,000,000 of 630,000,000 rows, about 104 minutes left
                    1000000 | 630000000 | PT60S | 1,000,000 of 630,000,000 rows, about 10 hours left
                    """)
    void the_end_is_estimated_from_the_rows_so_far(
            long count, long expected, Duration elapsed, String text) {
        assertEquals(text, Progress.text(count, expected, elapsed));
    }

    @Test
    void without_a_terminal_it_is_shown_if_asked_for_a_line_in_ten_seconds() {
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        PrintStream before = System.err;
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        try {
            for (boolean watched : new boolean[] {false, true}) {
                Progress progress = new Progress(watched);
                progress.show(10_000, 20_000);
                progress.show(11_000, 20_000);
            }
        } finally {
            System.setErr(before);
        }
        String lines = written.toString(StandardCharsets.UTF_8);
        assertTrue(lines.startsWith("10,000 of 20,000 rows, about "), lines);
        assertEquals(1, lines.lines().count(), lines);
    }
}
