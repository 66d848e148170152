package io.mintmark.base.http.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helidon.webserver.CloseConnectionException;
import io.mintmark.base.config.ServerBounds;
import io.mintmark.base.limit.Network;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

class AnswerMemoryTest {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final ServerBounds BOUNDS = new ServerBounds(LONG, LONG, LONG, LONG, 1024, 1024);
    private static final int READER = 2 * AnswerMemory.PIECE;
    private static final long MOST = 100L * READER;

    private final AtomicLong nanos = new AtomicLong();
    private final AnswerMemory memory = new AnswerMemory(MOST);
    private final List<Client> clients = new ArrayList<>();
    private final CountDownLatch end = new CountDownLatch(1);

    /** A client that is being written to for as long as the test lasts. */
    private final class Client {
        final Network network;
        final ConnectionState state;
        volatile boolean isClosed;

        Client(int address) {
            network = new Network(false, address);
            state = new ConnectionState(BOUNDS, network, nanos::get, () -> isClosed = true);
            state.answerBegins(false, 0);
            clients.add(this);
        }

        Client waits() {
            CountDownLatch began = new CountDownLatch(1);
            Thread.ofVirtual()
                    .start(() -> {
                        try {
                            state.awaitClient(() -> {
                                began.countDown();
                                awaitQuietly(end);
                                return state;
                            });
                        } catch (CloseConnectionException e) {
                            return; // as the connection's own thread
                        }
                    });
            awaitQuietly(began);
            return this;
        }

        Optional<AnswerHold> holds(long bytes) {
            return memory.hold(state, network, bytes);
        }

        Optional<AnswerHold> reads(byte[] document) {
            return memory.holdShared(state, network, document);
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void later() {
        nanos.addAndGet(Duration.ofSeconds(1).toNanos());
    }

    @Test
    void a_document_counts_once_and_each_of_its_readers_a_piece() {
        byte[] document = new byte[10 * READER];
        AnswerHold first = new Client(1).reads(document).orElseThrow();
        AnswerHold second = new Client(2).reads(document).orElseThrow();
        assertEquals(12L * READER, memory.used());
        first.close();
        assertEquals(11L * READER, memory.used());
        second.close();
        assertEquals(0, memory.used());
    }

    @Test
    void one_address_gets_half_and_others_get_theirs() {
        assertTrue(new Client(1).holds(MOST / 2).isPresent());
        assertFalse(new Client(1).holds(1).isPresent());
        assertTrue(new Client(2).holds(MOST / 2).isPresent());
        assertFalse(new Client(3).holds(1).isPresent());
    }

    @Test
    void readers_of_one_document_get_half_and_answers_of_their_own_find_room() {
        byte[] document = new byte[READER];
        for (int i = 0; i < 50; i++) {
            assertTrue(new Client(i).reads(document).isPresent(), "reader " + i);
        }
        assertFalse(new Client(50).reads(document).isPresent());
        assertTrue(new Client(51).holds(10 * READER).isPresent());
        assertTrue(new Client(52).reads(new byte[READER]).isPresent());
    }

    @Test
    void a_new_reader_takes_the_place_of_the_client_that_has_not_read_for_longest() {
        byte[] document = new byte[READER];
        Client slow = new Client(1).waits();
        slow.reads(document);
        later();
        for (int i = 2; i <= 50; i++) {
            new Client(i).waits().reads(document);
        }
        assertTrue(new Client(60).reads(document).isPresent());

        assertTrue(slow.isClosed);
        assertEquals(1, clients.stream().filter(client -> client.isClosed).count());
        end.countDown();
    }

    @Test
    void when_all_is_used_those_above_an_equal_share_lose_theirs() {
        Client modest = new Client(1).waits();
        modest.holds(READER);
        later();
        Client greedy = new Client(2).waits();
        greedy.holds(50L * READER);
        Client other = new Client(3).waits();
        other.holds(49L * READER);
        later();

        assertTrue(new Client(4).holds(READER).isPresent());
        assertFalse(modest.isClosed);
        assertTrue(greedy.isClosed != other.isClosed);
        end.countDown();
    }

    @Test
    void an_answer_that_must_not_be_lost_counts_and_is_never_refused() {
        new Client(1).holds(MOST / 2);
        new Client(2).holds(MOST / 2);
        Client third = new Client(3);
        try (AnswerHold _ = memory.holdAnyway(third.state, third.network, READER)) {
            assertEquals(MOST + READER, memory.used());
        }
        assertEquals(MOST, memory.used());
    }
}
