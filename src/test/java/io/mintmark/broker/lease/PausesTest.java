package io.mintmark.broker.lease;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Random;

class PausesTest {
    private final Pauses pauses = new Pauses(InstantSource.system(), new Random(1));

    @Test
    void pauses_stay_short_for_ten_minutes_and_then_grow() {
        Duration all = Duration.ZERO;
        for (int failures = 1; all.compareTo(Duration.ofMinutes(10)) < 0; failures++) {
            Duration pause = pauses.after(failures);
            assertTrue(pause.compareTo(Duration.ofMinutes(1)) <= 0, pause::toString);
            all = all.plus(pause);
        }
        Duration last = pauses.after(1_000);

        assertTrue(last.compareTo(Pauses.LONGEST.dividedBy(2)) >= 0, last::toString);
        assertTrue(last.compareTo(Pauses.LONGEST) <= 0, last::toString);
    }
}
