package io.mintmark.audit.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;

import io.mintmark.Unchecked;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

class SealerTest {
    private static final ECKey OLD = key();
    private static final ECKey NEW = key();
    private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

    /** Time passes as the tests say, and it looks whether it has. */
    private static final Duration TICK = Duration.ofMillis(20);

    private final AtomicReference<Instant> now = new AtomicReference<>(START);
    private final AtomicInteger looks = new AtomicInteger();
    private final AtomicLong rows = new AtomicLong();
    private final List<String> printed = new CopyOnWriteArrayList<>();
    private final Store store = new Store();
    private final Sealer sealer;

    SealerTest() {
        sealer = sealer(false, OLD);
    }

    private static ECKey key() {
        return Unchecked.call(() -> new ECKeyGenerator(Curve.P_256).generate());
    }

    private Sealer sealer(boolean keyReplaced, ECKey... keys) {
        return new Sealer(
                store,
                new SealingKeys(List.of(keys)),
                keyReplaced,
                "here/1",
                this::nanos,
                rows::get,
                printed::add,
                TICK);
    }

    /** Another replica seals with its keys, as long as it runs. */
    private void anotherSeals(boolean keyReplaced, ECKey... keys) {
        int before = store.sealed.size();
        Sealer other = sealer(keyReplaced, keys).start();
        Eventually.holds(() -> store.sealed.size() == before + 1);
        other.close();
        assertEquals(before + 2, store.sealed.size());
    }

    private Instant time() {
        return Objects.requireNonNull(now.get());
    }

    /** What goes on at the pace of the database's clock, and begins elsewhere. */
    private long nanos() {
        long nanos = Long.MAX_VALUE - 1 + Duration.between(START, time()).toNanos();
        looks.incrementAndGet();
        return nanos;
    }

    /** It looks at the clock at least once each time that it wakes. */
    private void itHasWokenTwice() {
        int before = looks.get();
        Eventually.holds(() -> looks.get() >= before + 2);
    }

    /** Waits for a checkpoint, and until the sealer knows when it looks at all chains again. */
    private void hasSealed(int checkpoints) {
        Eventually.holds(() -> store.sealed.size() == checkpoints);
        itHasWokenTwice();
    }

    /** Keeps checkpoints in memory. */
    private final class Store implements SealStore, SealStore.Heads {
        private final List<SignedCheckpoint> sealed = new CopyOnWriteArrayList<>();
        private final List<Boolean> everything = new CopyOnWriteArrayList<>();
        private final AtomicInteger asked = new AtomicInteger();
        private volatile boolean gone;
        private volatile boolean fullLooksFail;

        @Override
        public Optional<SignedCheckpoint> seal(
                boolean all, Function<Unsealed, Optional<SignedCheckpoint>> sign) {
            asked.incrementAndGet();
            everything.add(all);
            if (gone || (all && fullLooksFail)) {
                throw new StoreUnreachable("gone", true, null);
            }
            Optional<SignedCheckpoint> last =
                    sealed.isEmpty() ? Optional.empty() : Optional.of(sealed.getLast());
            Optional<SignedCheckpoint> next =
                    sign.apply(new Unsealed(last, this::after, this, new LogTree(), time()));
            next.ifPresent(sealed::add);
            return next;
        }

        private List<SignedCheckpoint> after(long number) {
            return sealed.stream()
                    .filter(each -> each.number() > number && each.announcedBy().isPresent())
                    .toList();
        }

        @Override
        public List<Position> events() {
            return List.of();
        }

        @Override
        public List<Position> changes() {
            return List.of();
        }

        @Override
        public String root() {
            return CanonicalForm.ORIGIN;
        }
    }

    private void started() {
        var _ = sealer.start();
        hasSealed(1);
    }

    @Test
    void it_seals_at_start_and_at_the_end_and_prints_each_checkpoint() {
        started();
        assertEquals(List.of(true), store.everything);
        sealer.close();
        assertEquals(2, store.sealed.size());
        assertEquals(store.sealed.stream().map(SignedCheckpoint::line).toList(), printed);
    }

    @Test
    void it_seals_when_the_last_checkpoint_is_a_minute_old_and_not_before() {
        started();
        now.updateAndGet(time -> time.plus(Duration.ofSeconds(59)));
        itHasWokenTwice();
        sealer.close();
        assertEquals(2, store.asked.get(), "once at start, once at the end");
    }

    @Test
    void after_a_minute_it_seals_what_is_new() {
        started();
        now.updateAndGet(time -> time.plus(Duration.ofSeconds(60)));
        Eventually.holds(() -> store.sealed.size() == 2);
        assertFalse(store.everything.get(1), "it looks at all chains at start and once an hour");
        sealer.close();
    }

    @Test
    void once_an_hour_it_looks_at_all_chains_and_if_that_fails_not_again_at_once() {
        started();
        now.updateAndGet(time -> time.plus(Duration.ofHours(1)));
        hasSealed(2);
        store.fullLooksFail = true;
        now.updateAndGet(time -> time.plus(Duration.ofHours(1)));
        Eventually.holds(() -> store.asked.get() == 3);
        itHasWokenTwice();
        now.updateAndGet(time -> time.plus(Duration.ofSeconds(60)));
        hasSealed(3);
        now.updateAndGet(time -> time.plus(Duration.ofSeconds(60)));
        hasSealed(4);
        assertEquals(List.of(true, true, true, false, false), store.everything);
        sealer.close();
    }

    @Test
    void another_replica_that_sealed_lately_saves_it_the_work() {
        started();
        SignedCheckpoint other = store.sealed.getFirst();
        now.updateAndGet(time -> time.plus(Duration.ofSeconds(60)));
        store.sealed.set(
                0,
                new SignedCheckpoint(
                        1, other.sealedAt().plusSeconds(60), other.jws(), Optional.empty()));
        Eventually.holds(() -> store.asked.get() >= 2);
        assertEquals(1, store.sealed.size());
        sealer.close();
        assertEquals(2, store.sealed.size());
    }

    @Test
    void a_checkpoint_of_a_time_that_is_still_to_come_saves_nobody_the_work() {
        started();
        SignedCheckpoint fast = store.sealed.getFirst();
        store.sealed.set(
                0,
                new SignedCheckpoint(
                        1, fast.sealedAt().plusSeconds(600), fast.jws(), Optional.empty()));
        now.updateAndGet(time -> time.plus(Duration.ofSeconds(60)));
        Eventually.holds(() -> store.sealed.size() == 2);
        sealer.close();
    }

    @Test
    void many_rows_are_sealed_without_waiting_for_the_minute() {
        started();
        rows.set(Sealer.ROWS - 1);
        now.updateAndGet(time -> time.plus(Duration.ofSeconds(1)));
        rows.set(Sealer.ROWS);
        Eventually.holds(() -> store.sealed.size() == 2);
        itHasWokenTwice();
        assertEquals(2, store.sealed.size(), "no more rows came");
        sealer.close();
        assertEquals(3, store.sealed.size());
    }

    @Test
    void a_store_that_is_gone_is_asked_again_when_it_is_back() {
        store.gone = true;
        var _ = sealer.start();
        Eventually.holds(() -> looks.get() >= 1);
        assertTrue(store.sealed.isEmpty());
        store.gone = false;
        now.updateAndGet(time -> time.plus(Duration.ofSeconds(1)));
        Eventually.holds(() -> printed.size() == 1);
        assertEquals(1, store.sealed.size());
        sealer.close();
    }

    @Test
    void a_replica_whose_key_was_replaced_as_lost_seals_no_more() {
        started();
        anotherSeals(true, NEW);
        now.updateAndGet(time -> time.plus(Duration.ofSeconds(60)));
        itHasWokenTwice();
        sealer.close();
        assertEquals(3, store.sealed.size(), "neither after a minute nor at the end");
        anotherSeals(false, NEW);
    }

    @Test
    void a_replica_seals_on_with_the_old_key_while_another_has_begun_to_rotate() {
        started();
        anotherSeals(false, OLD, NEW);
        sealer.close();
        assertEquals(4, store.sealed.size());
    }

    @Test
    void a_lost_key_does_not_seal_if_its_replica_is_started_as_the_new_key_seals() {
        anotherSeals(false, OLD);
        anotherSeals(true, NEW);
        var _ = sealer.start();
        itHasWokenTwice();
        sealer.close();
        assertEquals(4, store.sealed.size());
    }

    @Test
    void a_replica_seals_again_when_the_foreign_checkpoint_was_disowned() {
        started();
        anotherSeals(true, NEW);
        SignedCheckpoint foreign = store.sealed.getLast();
        store.sealed.add(
                new SealingKeys(List.of(OLD))
                        .declare(
                                new SealStore.Unsealed(
                                        Optional.of(foreign),
                                        store::after,
                                        store,
                                        new LogTree(),
                                        time()),
                                "operator",
                                new Checkpoint.Declaration(
                                        "forged",
                                        List.of(
                                                new Checkpoint.Named(
                                                        foreign.number(), foreign.hash())),
                                        List.of(),
                                        List.of())));
        sealer.close();
        assertEquals(5, store.sealed.size());
    }
}
