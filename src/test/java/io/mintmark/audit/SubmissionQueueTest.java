package io.mintmark.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.tenant.TenantName;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

class SubmissionQueueTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final SubmissionQueue queue = new SubmissionQueue(10_000);

    private static Submission begins(String tenant) {
        return new Submission(List.of(Rows.intent(tenant)));
    }

    private static Submission ends() {
        return new Submission(List.of(Rows.row(Rows.IDS.next(), Kind.ISSUED, "ends")));
    }

    private void offer(Submission... submissions) {
        for (Submission each : submissions) {
            assertTrue(queue.offer(each));
        }
    }

    private List<Submission> take(int most, int ofOneTenant) throws InterruptedException {
        return queue.take(most, ofOneTenant, LONG);
    }

    @Test
    void what_ends_a_mint_goes_before_what_begins_one() throws Exception {
        Submission begins = begins("a");
        Submission ends = ends();
        offer(begins, ends);
        assertEquals(List.of(ends), take(1, 9));
        assertEquals(List.of(begins), take(1, 9));
    }

    @Test
    void of_a_tenant_only_so_many_begin_at_a_time_in_their_order() throws Exception {
        List<Submission> all =
                IntStream.range(0, 5).mapToObj(_ -> begins("a")).peek(this::offer).toList();
        assertEquals(all.subList(0, 2), take(9, 2));
        assertEquals(all.subList(2, 4), take(9, 2));
        assertEquals(all.subList(4, 5), take(9, 2));
        assertEquals(0, queue.size());
    }

    @Test
    void tenants_take_turns_also_where_a_group_has_no_room_for_all() throws Exception {
        Submission a = begins("a");
        Submission secondOfA = begins("a");
        Submission b = begins("b");
        Submission c = begins("c");
        offer(a, secondOfA, b, c);
        assertEquals(List.of(a, b), take(2, 1));
        assertEquals(List.of(c, secondOfA), take(2, 1));
    }

    @Test
    void more_than_its_capacity_is_not_taken() throws Exception {
        SubmissionQueue small = new SubmissionQueue(2);
        assertTrue(small.offer(ends()));
        assertTrue(small.offer(begins("a")));
        assertFalse(small.offer(ends()));
        var _ = small.take(1, 1, LONG);
        assertTrue(small.offer(ends()));
    }

    @Test
    void half_of_it_is_the_most_that_one_tenant_has() throws Exception {
        SubmissionQueue small = new SubmissionQueue(4);
        assertTrue(small.offer(begins("a")));
        assertTrue(small.offer(begins("a")));
        assertFalse(small.offer(begins("a")));
        assertTrue(small.offer(begins("b")));
        assertTrue(small.offer(ends()));
        var _ = small.take(4, 1, LONG);
        assertTrue(small.offer(begins("a")));
    }

    @Test
    void whoever_waits_gets_what_comes_and_nothing_if_nothing_comes() throws Exception {
        Submission late = begins("a");
        var taken = CompletableFuture.supplyAsync(this::next);
        offer(late);
        assertEquals(List.of(late), taken.get());
        assertEquals(List.of(), queue.take(9, 9, Duration.ofMillis(1)));
        assertFalse(queue.isOver());
    }

    private List<Submission> next() {
        try {
            return take(9, 9);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void a_closed_queue_gives_what_it_has_and_takes_no_more() throws Exception {
        Submission last = begins("a");
        offer(last);
        var waits = CompletableFuture.supplyAsync(this::next);
        assertEquals(List.of(last), waits.get());
        var waitsForMore = CompletableFuture.supplyAsync(this::next);
        queue.close();
        assertEquals(List.of(), waitsForMore.get());
        assertFalse(queue.offer(ends()));
        assertTrue(queue.isOver());
    }

    @Test
    void what_nobody_waits_for_any_more_takes_nobodys_place() throws Exception {
        Submission abandoned = begins("a");
        offer(abandoned);
        assertThrows(StoreUnreachable.class, () -> abandoned.await(Duration.ofMillis(1)));
        Submission wanted = begins("a");
        offer(wanted);
        assertEquals(List.of(wanted), take(9, 1));
        assertEquals(0, queue.size());
    }

    @Test
    void what_is_drained_is_all_that_was_left() {
        offer(begins("a"), begins("b"), ends());
        assertEquals(3, queue.drain().size());
        assertEquals(0, queue.size());
        assertEquals(List.of(), queue.drain());
    }

    /** Whatever comes in whichever order: each once, in its tenant's order, none left behind. */
    @Test
    void random_loads_come_out_whole_in_order_and_in_turn() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Map<Optional<TenantName>, Queue<Submission>> expected = new HashMap<>();
        int waiting = 0;
        for (int i = 0; i < 50_000; i++) {
            if (random.nextInt(3) > 0 && waiting < 5_000) {
                Submission one =
                        random.nextBoolean() ? ends() : begins("t" + random.nextInt(1 + i % 40));
                expected.computeIfAbsent(one.beginnerOf(), _ -> new ArrayDeque<>()).add(one);
                offer(one);
                waiting++;
            } else if (waiting > 0) {
                waiting -= taken(expected, 1 + random.nextInt(40), 1 + random.nextInt(6), seed);
            }
            assertEquals(waiting, queue.size(), "seed " + seed);
        }
        while (waiting > 0) {
            waiting -= taken(expected, 128, 4, seed);
        }
    }

    private int taken(
            Map<Optional<TenantName>, Queue<Submission>> expected, int most, int each, long seed)
            throws InterruptedException {
        Map<Optional<TenantName>, Integer> before = sizes(expected);
        List<Submission> group = take(most, each);
        for (Submission one : group) {
            Queue<Submission> own = expected.getOrDefault(one.beginnerOf(), new ArrayDeque<>());
            assertEquals(own.poll(), one, "seed " + seed);
        }
        Map<Optional<TenantName>, Integer> left = sizes(expected);
        before.forEach((tenant, count) -> {
            int gone = count - left.getOrDefault(tenant, 0);
            assertTrue(tenant.isEmpty() || gone <= each, "seed " + seed);
            assertTrue(
                    group.size() == most
                            || gone == (tenant.isEmpty() ? count : Math.min(count, each)),
                    "seed " + seed);
        });
        return group.size();
    }

    private static Map<Optional<TenantName>, Integer> sizes(
            Map<Optional<TenantName>, Queue<Submission>> queues) {
        return queues.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, each -> each.getValue().size()));
    }
}
