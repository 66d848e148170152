package io.mintmark.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;

class AuditLogTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Executor THREADS = task -> Thread.ofVirtual().start(task);

    private final GatedStore store = new GatedStore();

    private static CompletableFuture<Receipt> record(AuditLog log, Event... rows) {
        return CompletableFuture.supplyAsync(() -> log.record(List.of(rows)), THREADS);
    }

    /** A row whose commit takes until the store is opened. */
    private CompletableFuture<Receipt> begin(AuditLog log) {
        CompletableFuture<Receipt> first = record(log, Rows.row("first"));
        store.awaitCommit();
        return first;
    }

    @Test
    void what_comes_while_a_commit_is_under_way_shares_the_next_and_a_bad_row_fails_alone() {
        try (AuditLog log = new AuditLog(store, LONG).start()) {
            var first = begin(log);
            var good =
                    IntStream.range(0, 50)
                            .mapToObj(i -> record(log, Rows.row("one"), Rows.row("two")))
                            .toList();
            Eventually.holds(() -> log.queued() == 50);
            store.open();
            first.join();
            good.forEach(CompletableFuture::join);
            assertEquals(List.of(1, 100), store.commits().stream().map(List::size).toList());
        }
    }

    @Test
    void a_bad_row_fails_its_own_request_and_no_other() {
        try (AuditLog log = new AuditLog(store, LONG).start()) {
            var first = begin(log);
            var good = IntStream.range(0, 10).mapToObj(i -> record(log, Rows.row("good"))).toList();
            var bad = record(log, Rows.row("beside"), Rows.bad());
            var more = IntStream.range(0, 10).mapToObj(i -> record(log, Rows.row("good"))).toList();
            Eventually.holds(() -> log.queued() == 21);
            store.open();
            first.join();
            good.forEach(CompletableFuture::join);
            more.forEach(CompletableFuture::join);
            CompletionException refused = assertThrows(CompletionException.class, bad::join);
            assertInstanceOf(EventRefused.class, refused.getCause());
            assertEquals(21, store.rows().count());
            assertFalse(store.rows().anyMatch(row -> row.reason().equals(Optional.of("beside"))));
        }
    }

    @Test
    void a_row_that_can_not_even_be_written_down_fails_its_own_request_and_no_other() {
        try (AuditLog log = new AuditLog(store, LONG).start()) {
            var first = begin(log);
            var good = IntStream.range(0, 10).mapToObj(i -> record(log, Rows.row("good"))).toList();
            var impossible = record(log, Rows.impossible());
            Eventually.holds(() -> log.queued() == 11);
            store.open();
            first.join();
            good.forEach(CompletableFuture::join);
            assertThrows(CompletionException.class, impossible::join);
            assertEquals(11, store.rows().count());
        }
    }

    @Test
    void a_full_queue_is_an_error_at_once() {
        try (AuditLog log = new AuditLog(store, LONG).start()) {
            var first = begin(log);
            var waiting =
                    IntStream.range(0, AuditLog.CAPACITY)
                            .mapToObj(i -> record(log, Rows.row("waits")))
                            .toList();
            Eventually.holds(() -> log.queued() == AuditLog.CAPACITY);
            StoreUnreachable full =
                    assertThrows(
                            StoreUnreachable.class, () -> log.record(List.of(Rows.row("more"))));
            assertFalse(full.perhapsCommitted());
            store.open();
            first.join();
            waiting.forEach(CompletableFuture::join);
            assertEquals(1 + AuditLog.CAPACITY, store.rows().count());
        }
    }

    @Test
    void rows_that_nobody_waits_for_any_more_are_not_written() {
        try (AuditLog log = new AuditLog(store, Duration.ofMillis(50)).start()) {
            var first = begin(log);
            StoreUnreachable gaveUp =
                    assertThrows(
                            StoreUnreachable.class, () -> log.record(List.of(Rows.row("late"))));
            assertFalse(gaveUp.perhapsCommitted());
            CompletionException taken = assertThrows(CompletionException.class, first::join);
            assertTrue(
                    assertInstanceOf(StoreUnreachable.class, taken.getCause()).perhapsCommitted());
            store.open();
            Eventually.holds(() -> store.rows().count() == 1);
        }
        assertEquals(List.of(1), store.commits().stream().map(List::size).toList());
    }

    @Test
    void an_outcome_is_owed_until_the_store_is_back_unless_its_intent_was_never_written() {
        store.open();
        try (AuditLog log = new AuditLog(store, LONG).start()) {
            Event intent = Rows.row("intent");
            log.record(List.of(intent));
            store.gone(true);
            log.owe(List.of(Rows.row("never")));
            log.owe(List.of(Rows.row(intent.mintId(), Kind.FAILED, "owed")));
            assertThrows(StoreUnreachable.class, () -> log.record(List.of(Rows.row("now"))));
            store.gone(false);
            Eventually.holds(() -> store.rows().count() == 2);
        }
        assertEquals(
                List.of("intent", "owed"),
                store.rows().map(row -> row.reason().orElseThrow()).toList());
    }

    @Test
    void a_log_that_is_closed_writes_what_waits_and_takes_no_more() {
        AuditLog log = new AuditLog(store, LONG).start();
        var first = begin(log);
        var waiting = record(log, Rows.row("waits"));
        Eventually.holds(() -> log.queued() == 1);
        Thread closing = Thread.ofVirtual().start(log::close);
        Eventually.holds(() -> log.queued() == 2);
        assertThrows(StoreUnreachable.class, () -> log.record(List.of(Rows.row("more"))));
        store.open();
        first.join();
        waiting.join();
        Eventually.holds(() -> !closing.isAlive());
        assertEquals(2, store.rows().count());
    }
}
