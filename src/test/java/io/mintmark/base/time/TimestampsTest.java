package io.mintmark.base.time;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Instant;
import java.util.Random;

class TimestampsTest {
    private static final int TIMES = 20_000;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1970-01-01T00:00:00Z",
                "2026-11-23T10:00:00Z",
                "2026-11-23T10:07:00Z",
                "2026-11-23T10:07:09Z",
                "2026-11-23T00:00:00.001Z",
                "2026-11-23T10:07:00.000001Z",
                "2026-11-23T10:07:09.120Z",
                "2026-11-23T10:07:09.000000001Z",
                "2028-02-29T23:59:59.999999999Z",
                "0000-01-01T00:00:00Z",
                "9999-12-31T23:59:59.999999Z",
                "+10000-01-01T00:00:00Z",
                "-0001-12-31T23:59:59.999999999Z",
                "-1000000000-01-01T00:00:00Z",
                "+1000000000-12-31T23:59:59.999999999Z"
            })
    void text_is_what_was_read(String text) {
        assertEquals(text, Timestamps.text(Instant.parse(text)));
    }

    @Test
    void text_is_that_of_the_jdk() {
        Random random = new Random(1);
        long first = Instant.parse("0000-01-01T00:00:00Z").getEpochSecond();
        long last = Instant.parse("9999-12-31T23:59:59Z").getEpochSecond();
        for (int i = 0; i < TIMES; i++) {
            long second = random.nextLong(first, last + 1);
            // whole minutes, and fractions of each length
            long at = i % 3 == 0 ? second - Math.floorMod(second, 60) : second;
            int unit = new int[] {1, 1_000, 1_000_000, 1_000_000_000}[i % 4];
            Instant instant =
                    Instant.ofEpochSecond(at, random.nextLong(1_000_000_000) / unit * unit);
            assertEquals(instant.toString(), Timestamps.text(instant));
        }
    }
}
