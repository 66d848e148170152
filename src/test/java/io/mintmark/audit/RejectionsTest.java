package io.mintmark.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

class RejectionsTest {
    private final GatedStore store = new GatedStore();
    private final Rejections rejections =
            new Rejections(store, Rows.IDS, InstantSource.system()).start();

    private long count(String reason) {
        return store.rows().filter(row -> row.reason().equals(Optional.of(reason))).count();
    }

    @Test
    void what_does_not_fit_is_counted_and_nobody_waits() {
        rejections.note(Rows.row("first"));
        store.awaitCommit();
        for (int i = 0; i < Rejections.CAPACITY + 7; i++) {
            rejections.note(Rows.row("token"));
        }
        assertEquals(Rejections.CAPACITY, rejections.queued());
        store.open();
        rejections.close();
        Eventually.holds(() -> count(Rejections.OVERFLOW) == 1);
        assertEquals(Rejections.CAPACITY, count("token"));
        assertEquals(List.of("7"), store.rows().flatMap(row -> row.detail().stream()).toList());
    }

    @Test
    void a_row_that_the_store_refuses_takes_no_other_along() {
        rejections.note(Rows.row("first"));
        store.awaitCommit();
        for (int i = 0; i < 20; i++) {
            rejections.note(i == 7 ? Rows.bad() : Rows.row("good"));
        }
        store.open();
        rejections.close();
        Eventually.holds(() -> count("good") == 19);
        assertEquals(0, count(Rejections.OVERFLOW));
    }

    @Test
    void what_can_not_be_written_is_counted_when_the_store_is_back() {
        rejections.note(Rows.row("lost"));
        store.awaitCommit();
        store.gone(true);
        store.open();
        Eventually.holds(() -> rejections.fault().isPresent());
        store.gone(false);
        rejections.close();
        Eventually.holds(() -> count(Rejections.OVERFLOW) == 1);
        assertEquals(List.of("1"), store.rows().flatMap(row -> row.detail().stream()).toList());
    }

    @Test
    void a_stop_with_nothing_to_write_waits_for_nothing() {
        int stops = 200;
        assertTimeout(
                Duration.ofSeconds(stops / 2),
                () -> {
                    for (int i = 0; i < stops; i++) {
                        new Rejections(store, Rows.IDS, InstantSource.system()).start().close();
                    }
                });
    }
}
