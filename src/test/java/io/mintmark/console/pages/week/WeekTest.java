package io.mintmark.console.pages.week;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.time.Instant;

/** Weeks of ISO 8601. */
class WeekTest {
    @Test
    void a_week_at_a_turn_of_the_year_belongs_to_the_year_that_has_its_thursday() {
        Week week = Week.of(Instant.parse("2027-01-03T23:59:59Z"));

        assertEquals("week 53 of 2026", week.words());
        assertEquals("28 Dec 2026 – 3 Jan 2027", week.span());
        assertEquals("/tenants/acme/week?of=2026-W53", week.address("acme"));
        assertEquals("/tenants/acme/week?of=2027-W01", week.next().address("acme"));
    }

    @Test
    void a_week_begins_with_monday_and_ends_with_sunday() {
        Week week = Week.of(Instant.parse("2026-11-23T00:00:00Z"));

        assertEquals(Instant.parse("2026-11-23T00:00:00Z"), week.start());
        assertEquals(Instant.parse("2026-11-30T00:00:00Z"), week.end());
        assertEquals("from=2026-11-23&to=2026-11-29", week.range());
        assertEquals("23 Nov – 29 Nov 2026", week.span());
    }

    @Test
    void a_moment_of_the_week_has_its_minute_and_any_other_its_day() {
        Week week = Week.of(Instant.parse("2026-11-23T00:00:00Z"));

        assertEquals("Tue 24 Nov, 14:02", week.clock(Instant.parse("2026-11-24T14:02:59Z")));
        assertEquals("22 Nov 2026", week.clock(Instant.parse("2026-11-22T23:59:59Z")));
        assertEquals("30 Nov 2026", week.clock(week.end()));
    }
}
