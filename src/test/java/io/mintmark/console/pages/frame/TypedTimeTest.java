package io.mintmark.console.pages.frame;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Instant;
import java.util.Optional;

/** Times as people type them. */
class TypedTimeTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2026-11-21                | 2026-11-21T00:00:00Z",
                "2026-11-21 12:00          | 2026-11-21T12:00:00Z",
                "2026-11-21T12:00          | 2026-11-21T12:00:00Z",
                "2026-11-21T12:00:30.5Z    | 2026-11-21T12:00:30.5Z",
                "2026-11-21T12:00+01:00    | 2026-11-21T11:00:00Z",
                "2026-11-21T12:00 01:00    | 2026-11-21T11:00:00Z",
                "2026-11-21 12:00 -0530    | 2026-11-21T17:30:00Z",
                "2026-11-21 12:00:01 UTC   | 2026-11-21T12:00:01Z",
                "21 Nov 2026               | 2026-11-21T00:00:00Z",
                "21 Nov 2026, 12:00 UTC    | 2026-11-21T12:00:00Z",
                "1 march 2026, 14:02:07 utc| 2026-03-01T14:02:07Z"
            })
    void a_time_is_understood_in_the_ways_that_people_write_it(String typed, Instant meant) {
        assertEquals(Optional.of(meant), TypedTime.of(typed, false).at());
    }

    @Test
    void what_a_page_writes_is_understood() {
        Instant at = Instant.parse("2026-03-01T14:02:07Z");

        assertEquals(Optional.of(at), TypedTime.of(new Moment(at, at).clock(), false).at());
    }

    @Test
    void the_end_of_a_day_is_its_last_microsecond() {
        Instant last = Instant.parse("2026-11-21T23:59:59.999999Z");

        assertEquals(Optional.of(last), TypedTime.of("2026-11-21", true).at());
        assertEquals(Optional.of(last), TypedTime.of("21 Nov 2026", true).at());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "yesterday", "2026-02-30", "30 Feb 2026",
                "2026-13-01", "2026-11-21 25:00", "2026-11-21 12",
                "2026-11-21T12:00+99:00", "1969-12-31", "9999-12-31",
                "21.11.2026", "12 Foo 2026"
            })
    void what_cannot_be_meant_keeps_its_text_beside_its_fault(String typed) {
        TypedTime time = TypedTime.of(typed, false);

        assertEquals(typed, time.text());
        assertEquals(Optional.empty(), time.at());
        assertTrue(time.fault().orElseThrow().contains("'" + typed + "' is not a time"));
    }
}
