package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Clients of many addresses ask for as much as each of them may, and read nothing of it. */
class UnreadAnswersTest {
    private static final int ADDRESSES = 600;
    private static final int BURST = 100;
    private static final int HONEST = 20;
    private static final int SMALL = 4096;
    private static final int OK = 200;
    private static final Map<String, String> SETTINGS =
            Map.of(
                    "RATE_LIMIT_ENABLED", "true",
                    "RATE_LIMIT_BURST", Integer.toString(BURST),
                    "SERVER_ANSWER_TIMEOUT", "PT1M");
    private static final String HOST = " HTTP/1.1\r\nHost: localhost\r\n\r\n";

    @Test
    void clients_that_read_their_answers_get_them_beside_those_that_do_not() throws IOException {
        try (TestDatabase database = TestDatabase.migrated();
                RunningBroker broker = RunningBroker.on(database, SETTINGS);
                Unread unread = new Unread()) {
            int port = broker.url().getPort();
            for (int i = 0; i < ADDRESSES; i++) {
                RawClient client = new RawClient(port, SMALL, address(1, i));
                unread.clients.add(client.trySending(("GET /openapi" + HOST).repeat(BURST)));
            }
            List<Integer> statuses = new ArrayList<>();
            for (int i = 0; i < HONEST; i++) {
                try (RawClient client = new RawClient(port, 0, address(9, i))) {
                    client.send("GET /credentials/idp-providers" + HOST);
                    statuses.add(client.answer().status());
                }
            }
            assertEquals(List.of(OK), statuses.stream().distinct().toList());
        }
    }

    /** They leave before the broker stops, which would wait for them. */
    private static final class Unread implements AutoCloseable {
        final List<RawClient> clients = new ArrayList<>();

        @Override
        public void close() throws IOException {
            for (RawClient client : clients) {
                client.close();
            }
        }
    }

    private static String address(int network, int number) {
        return "127.%d.%d.%d".formatted(network, number / 250, number % 250 + 1);
    }
}
