package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** What a stop does to clients. {@code -Dstop.rounds} makes more rounds under load than usual. */
class StopTest {
    private static final int ROUNDS = Integer.getInteger("stop.rounds", 3);
    private static final int CLIENTS = 32;
    private static final int BEFORE_THE_STOP = 100;
    private static final String GET = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

    private static final String READY =
            "GET /observe/health/ready HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

    /** The ids of all requests whose answer arrived. */
    private final Set<String> answered = ConcurrentHashMap.newKeySet();

    private final AtomicInteger asked = new AtomicInteger();

    @Test
    void whatever_was_issued_while_the_broker_stopped_arrived_at_its_client() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            try (World world =
                    new World(Map.of("SERVER_DRAIN", "PT0.5S", "LOG_LEVEL", "warning"))) {
                stopUnderLoad(world);
                Set<String> lost =
                        new TreeSet<>(
                                world.database()
                                        .column(
                                                "SELECT request_id FROM audit.event"
                                                        + " WHERE kind = 'issued'"));
                assertTrue(lost.size() > BEFORE_THE_STOP, "only " + lost.size());
                lost.removeAll(answered);
                assertEquals(Set.of(), lost, "round " + round);
                assertEquals(
                        List.of(),
                        world.audited(
                                "kind = 'requested' AND NOT EXISTS (SELECT FROM audit.event AS o"
                                        + " WHERE o.mint_id = event.mint_id AND o.step = 2)"));
            }
        }
    }

    private void stopUnderLoad(World world) throws InterruptedException {
        String token = world.token();
        int port = world.broker().url().getPort();
        int before = answered.size();
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(Thread.ofVirtual().start(() -> mintUntilNobodyListens(port, token)));
        }
        Eventually.holds(() -> answered.size() > before + BEFORE_THE_STOP);
        world.broker().stop();
        for (Thread client : clients) {
            client.join();
        }
    }

    private void mintUntilNobodyListens(int port, String token) {
        boolean listens = true;
        while (listens) {
            try (RawClient client = new RawClient(port)) {
                mintUntilTheLast(client, token);
            } catch (IOException e) {
                // otherwise an idle connection ended as the request was sent
                listens = !(e instanceof ConnectException);
            }
        }
    }

    private void mintUntilTheLast(RawClient client, String token) throws IOException {
        String body = "{\"keys\":[\"api\"]}";
        boolean isLast = false;
        while (!isLast) {
            String id = "r" + asked.incrementAndGet();
            RawAnswer answer =
                    client.send(
                                    "POST /credentials/mint HTTP/1.1\r\nHost: localhost\r\n"
                                            + "Content-Type: application/json\r\nX-Request-ID: "
                                            + id
                                            + "\r\nAuthorization: Bearer "
                                            + token
                                            + "\r\nContent-Length: "
                                            + body.length()
                                            + "\r\n\r\n"
                                            + body)
                            .answer();
            assertEquals(200, answer.status(), answer.body());
            answered.add(id);
            isLast = answer.header("connection").equals("close");
        }
    }

    @Test
    void the_port_serves_on_while_readiness_is_down() throws Exception {
        try (World world = new World(Map.of("SERVER_DRAIN", "PT1M"))) {
            int port = world.broker().url().getPort();
            try (RawClient idle = new RawClient(port);
                    RawClient late = new RawClient(port)) {
                assertEquals("keep-alive", idle.send(GET).answer().header("connection"));
                Thread stop = Thread.ofVirtual().start(world.broker()::stop);
                Eventually.holds(() -> readiness(world) == 503);
                try (RawClient another = new RawClient(port)) {
                    assertLast(another);
                }
                assertLast(idle);
                assertLast(late);
                stop.join(); // and not after a minute
            }
        }
    }

    private static void assertLast(RawClient client) throws IOException {
        RawAnswer answer = client.send(GET).answer();
        assertEquals(200, answer.status());
        assertEquals("close", answer.header("connection"));
        assertEquals("", client.untilClosed());
    }

    private static int readiness(World world) {
        try (RawClient operator = new RawClient(world.broker().adminPort())) {
            return operator.send(READY).head().status();
        } catch (IOException e) {
            return 0;
        }
    }
}
