package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Thousands of malformed requests, each with a good one behind it or in it that must never be
 * answered. {@code -Dsmuggling.requests} takes more of them than usual, {@code -Dsmuggling.seed}
 * others.
 */
class SmugglingTest {
    private static final int REQUESTS = Integer.getInteger("smuggling.requests", 2_500);
    private static final long SEED = Long.getLong("smuggling.seed", 20_260_101);
    private static final String TOKEN = "smuggled";
    private static final String MARKED = "GET /marked/" + TOKEN + " HTTP/1.1\r\nHost: a\r\n\r\n";
    private static final int AT_A_TIME = 8;
    private static final int SHOWN = 20;

    @Test
    void what_follows_a_malformed_request_is_never_answered() {
        List<String> all = MalformedRequests.all(SEED);
        assertTrue(all.size() > 10_000, "only " + all.size());

        List<String> some = all.stream().limit(REQUESTS).map(request -> request + MARKED).toList();
        assertNoneIsSmuggled(some, SmugglingTest::isLast);
    }

    @Test
    void what_is_hidden_in_a_body_is_never_answered() {
        List<String> requests = HiddenRequests.all(MARKED, SEED);

        assertTrue(requests.size() > 3_000, "only " + requests.size());
        assertNoneIsSmuggled(requests, answers -> true);
    }

    private static void assertNoneIsSmuggled(List<String> requests, Predicate<String> isRight) {
        Queue<String> problems = new ConcurrentLinkedQueue<>();
        Queue<String> waiting = new ConcurrentLinkedQueue<>(requests);
        try (GuardedServer server = GuardedServer.withLongTimeouts();
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < AT_A_TIME; i++) {
                Random random = new Random(SEED + i);
                clients.execute(() -> {
                    for (String next = waiting.poll(); next != null; next = waiting.poll()) {
                        String answers = answers(server, next, random);
                        if (answers.contains(TOKEN) || !isRight.test(answers)) {
                            problems.add(shown(next) + " -> " + answers);
                        }
                    }
                });
            }
        }
        assertEquals(
                List.of(),
                problems.stream().limit(SHOWN).toList(),
                problems.size() + " of " + requests.size() + ", seed " + SEED);
    }

    /** All that the server sends, whatever pieces it gets the requests in. */
    private static String answers(GuardedServer server, String requests, Random random) {
        int cut = random.nextInt(requests.length());
        try (RawClient client = server.client()) {
            return client.trySending(requests.substring(0, cut))
                    .trySending(requests.substring(cut))
                    .tryFinishing()
                    .untilClosed();
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Whether the last answer, if there is one, says that it is. */
    private static boolean isLast(String answers) {
        String last = answers.substring(Math.max(0, answers.lastIndexOf("HTTP/1.1 ")));
        return answers.isEmpty() || last.toLowerCase(Locale.ROOT).contains("connection: close\r\n");
    }

    private static String shown(String request) {
        return request.chars()
                .mapToObj(c -> c >= ' ' && c < 0x7f ? "" + (char) c : "\\x%02x".formatted(c))
                .collect(Collectors.joining());
    }
}
