package io.mintmark.broker.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

class CataloguePollingTest {
    private static final Duration PERIOD = CataloguePolling.PERIOD;

    @Test
    void a_database_that_is_gone_is_asked_less_and_less_often() {
        assertEquals(
                List.of(1, 2, 4, 8, 16, 16, 16),
                Stream.iterate(PERIOD, pause -> CataloguePolling.next(pause, false))
                        .limit(7)
                        .map(pause -> (int) pause.dividedBy(PERIOD))
                        .toList());
    }

    @Test
    void a_database_that_answers_is_asked_twice_a_second() {
        assertEquals(Duration.ofMillis(500), PERIOD);
        assertEquals(PERIOD, CataloguePolling.next(Duration.ofSeconds(8), true));
    }
}
