package io.mintmark.console.pages.frame;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.Instant;

/** Times, ids and text as people read them. */
class ShownTextTest {
    private static final Instant NOW = Instant.parse("2026-03-01T14:05:07Z");

    @ParameterizedTest
    @CsvSource({
        "2026-03-01T14:05:06Z, just now, '1 Mar 2026, 14:05:06 UTC'",
        "2026-03-01T14:02:07Z, 3 minutes ago, '1 Mar 2026, 14:02:07 UTC'",
        "2026-03-01T14:04:07Z, 60 seconds ago, '1 Mar 2026, 14:04:07 UTC'",
        "2026-03-01T16:05:08Z, in 2 hours, '1 Mar 2026, 16:05:08 UTC'",
        "2026-02-28T23:59:59Z, 14 hours ago, '28 Feb 2026, 23:59:59 UTC'",
        "2025-03-01T14:05:07Z, 365 days ago, '1 Mar 2025, 14:05:07 UTC'",
        "2020-03-01T14:05:07Z, 6 years ago, '1 Mar 2020, 14:05:07 UTC'"
    })
    void a_time_is_a_distance_and_a_clock(String at, String distance, String clock) {
        Moment moment = new Moment(Instant.parse(at), NOW);

        assertEquals(distance, moment.distance());
        assertEquals(clock, moment.clock());
    }

    @Test
    void an_id_is_cut_only_if_that_makes_it_shorter() {
        assertEquals("0199f2c4…456789ab", Frame.shortened("0199f2c4-1c4e-7000-8a5b-0123456789ab"));
        assertEquals("ASIA0123456789ABCDEF", Frame.shortened("ASIA0123456789ABCDEF"));
        assertEquals("a".repeat(24), Frame.shortened("a".repeat(24)));
        assertEquals("aaaaaaaa…aaaaaaaa", Frame.shortened("a".repeat(25)));
    }
}
