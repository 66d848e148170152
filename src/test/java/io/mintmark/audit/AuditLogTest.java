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
import java.util.stream.Stream;

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
    void a_tenant_that_asks_for_much_makes_itself_wait_and_no_other() {
        try (AuditLog log = new AuditLog(store, LONG).start()) {
            var first = begin(log);
            var busy =
                    IntStream.range(0, 3 * AuditLog.GROUP)
                            .mapToObj(i -> record(log, Rows.intent("busy")))
                            .toList();
            Eventually.holds(() -> log.queued() == busy.size());
            Event quiet = Rows.intent("quiet");
            var other = record(log, quiet);
            Eventually.holds(() -> log.queued() == busy.size() + 1);
            store.open();
            first.join();
            other.join();
            busy.forEach(CompletableFuture::join);
            assertTrue(store.commits().get(1).contains(quiet));
            assertTrue(store.commits().get(1).size() <= AuditLog.GROUP / 2 + 1);
            assertEquals(busy.size() + 2, store.rows().count());
        }
    }

    @Test
    void a_tenant_begins_a_thousand_requests_a_second_also_where_commits_are_slow() {
        assertTrue(AuditLog.ofOneTenant(Duration.ofMillis(2)) >= 4);
        assertTrue(AuditLog.ofOneTenant(Duration.ofMillis(50)) >= 50);
        assertEquals(AuditLog.GROUP / 2, AuditLog.ofOneTenant(Duration.ofSeconds(5)));
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
        try (AuditLog log = new AuditLog(store, Duration.ofMillis(500)).start()) {
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
    void an_outcome_waits_until_the_store_is_back_unless_its_intent_was_never_written() {
        store.open();
        try (AuditLog log = new AuditLog(store, LONG).start()) {
            Event intent = Rows.row("intent");
            log.record(List.of(intent));
            store.gone(true);
            log.recordLater(List.of(Rows.row("never")));
            log.recordLater(List.of(Rows.row(intent.mintId(), Kind.FAILED, "late")));
            assertThrows(StoreUnreachable.class, () -> log.record(List.of(Rows.row("now"))));
            store.gone(false);
            Eventually.holds(() -> store.rows().count() == 2);
        }
        assertEquals(
                List.of("intent", "late"),
                store.rows().map(row -> row.reason().orElseThrow()).toList());
    }

    @Test
    void what_is_queued_is_written_before_the_log_closes_and_nothing_after_that() {
        store.open();
        Event intent = Rows.row("intent");
        AuditLog log = new AuditLog(store, LONG).start();
        try (log) {
            log.record(List.of(intent));
            log.recordLater(List.of(Rows.row(intent.mintId(), Kind.WITHHELD, "queued")));
        }
        log.recordLater(List.of(Rows.row(intent.mintId(), Kind.ENDED, "too late")));
        assertEquals(
                List.of("intent", "queued"),
                store.rows().map(row -> row.reason().orElseThrow()).toList());
    }

    @Test
    void whoever_is_interrupted_while_nothing_was_written_gives_the_rows_up() throws Exception {
        try (AuditLog log = new AuditLog(store, LONG).start()) {
            var first = begin(log);
            var gaveUp = new CompletableFuture<StoreUnreachable>();
            Thread waiting =
                    Thread.ofVirtual()
                            .start(() ->
                                    gaveUp.complete(
                                            assertThrows(
                                                    StoreUnreachable.class,
                                                    () -> log.record(List.of(Rows.row("late"))))));
            Eventually.holds(() -> log.queued() == 1);
            waiting.interrupt();
            assertFalse(gaveUp.get().perhapsCommitted());
            store.open();
            first.join();
        }
        assertEquals(1, store.rows().count());
    }

    @Test
    void whoever_is_interrupted_during_the_commit_learns_what_came_of_it_and_stays_interrupted()
            throws Exception {
        try (AuditLog log = new AuditLog(store, LONG).start()) {
            var interrupted = new CompletableFuture<Boolean>();
            Thread waiting =
                    Thread.ofVirtual()
                            .start(() -> {
                                log.record(List.of(Rows.row("taken")));
                                interrupted.complete(Thread.currentThread().isInterrupted());
                            });
            store.awaitCommit();
            waiting.interrupt();
            store.open();
            assertTrue(interrupted.get());
        }
    }

    @Test
    void where_the_state_after_a_commit_cant_be_read_everybody_learns_that_it_is_perhaps_done() {
        try (AuditLog log = new AuditLog(store, LONG).start()) {
            var first = begin(log);
            var outcome = record(log, Rows.row("outcome"));
            var intent = record(log, Rows.intent());
            Eventually.holds(() -> log.queued() == 2);
            store.letOneThrough();
            first.join();
            store.forgetful(true);
            store.open();
            for (var waiting : List.of(outcome, intent)) {
                CompletionException unknown =
                        assertThrows(CompletionException.class, waiting::join);
                assertTrue(
                        assertInstanceOf(StoreUnreachable.class, unknown.getCause())
                                .perhapsCommitted());
            }
            assertEquals(2, store.commits().size());
        }
    }

    @Test
    void a_backlog_is_written_in_batches_between_which_requests_get_their_turn() {
        try (AuditLog log = new AuditLog(store, LONG).start()) {
            List<Event> intents = Stream.generate(() -> Rows.row("intent")).limit(600).toList();
            var begun = record(log, intents.toArray(Event[]::new));
            store.awaitCommit();
            log.recordLater(
                    intents.stream()
                            .map(each -> Rows.row(each.mintId(), Kind.FAILED, "late"))
                            .toList());
            store.letOneThrough();
            begun.join();
            store.awaitCommit();
            var request = record(log, Rows.row("request"));
            Eventually.holds(() -> log.queued() == 1);
            store.open();
            request.join();
            Eventually.holds(() -> store.rows().count() == 1_201);
            assertEquals(
                    List.of(600, Backlog.BATCH, 1, Backlog.BATCH, 600 - 2 * Backlog.BATCH),
                    store.commits().stream().map(List::size).toList());
        }
    }

    @Test
    void a_log_that_takes_no_rows_says_so_until_it_takes_some_again_and_loses_no_outcome() {
        store.open();
        try (AuditLog log = new AuditLog(store, LONG).start()) {
            Event intent = Rows.row("intent");
            log.record(List.of(intent));
            assertEquals(Optional.empty(), log.fault());
            store.refusesAll(true);
            assertThrows(EventRefused.class, () -> log.record(List.of(Rows.row("refused"))));
            assertTrue(log.fault().isPresent());
            log.recordLater(List.of(Rows.row(intent.mintId(), Kind.FAILED, "late")));
            store.refusesAll(false);
            Eventually.holds(() -> log.fault().isEmpty());
            Eventually.holds(() -> store.rows().count() == 2);
        }
    }

    @Test
    void a_log_that_takes_no_rows_from_the_start_says_so_before_anybody_asks() {
        store.open();
        store.refusesAll(true);
        try (AuditLog log = new AuditLog(store, LONG).start()) {
            Eventually.holds(() -> log.fault().isPresent());
        }
    }

    @Test
    void a_writer_that_died_says_so_and_nobody_waits_for_it() {
        store.open();
        try (AuditLog log = new AuditLog(store, LONG).start()) {
            assertThrows(StoreUnreachable.class, () -> log.record(List.of(Rows.fatal())));
            Eventually.holds(() ->
                    log.fault()
                            .equals(
                                    Optional.of(
                                            "the audit log's writer has stopped; restart this replica")));
            assertThrows(StoreUnreachable.class, () -> log.record(List.of(Rows.row("more"))));
        }
    }

    @Test
    void a_log_that_is_closed_writes_what_waits_and_takes_no_more() {
        AuditLog log = new AuditLog(store, LONG).start();
        var first = begin(log);
        var waiting = record(log, Rows.row("waits"));
        Eventually.holds(() -> log.queued() == 1);
        Thread closing = Thread.ofPlatform().start(log::close);
        Eventually.holds(() -> closing.getState() == Thread.State.TIMED_WAITING);
        assertThrows(StoreUnreachable.class, () -> log.record(List.of(Rows.row("more"))));
        store.open();
        first.join();
        waiting.join();
        Eventually.holds(() -> !closing.isAlive());
        assertEquals(2, store.rows().count());
    }
}
