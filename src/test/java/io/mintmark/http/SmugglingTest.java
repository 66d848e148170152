package io.mintmark.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;

/**
 * Thousands of malformed requests, each with a good one behind it that must never be answered.
 * {@code -Dsmuggling.requests} takes more of them than usual, {@code -Dsmuggling.seed} others.
 */
class SmugglingTest {
    private static final int REQUESTS = Integer.getInteger("smuggling.requests", 5_000);
    private static final long SEED = Long.getLong("smuggling.seed", 20_260_101);
    private static final int AT_A_TIME = 8;
    private static final int SHOWN = 20;

    @Test
    void what_follows_a_malformed_request_is_never_answered() throws InterruptedException {
        List<String> all = MalformedRequests.all(SEED);
        List<String> requests = all.subList(0, Math.min(REQUESTS, all.size()));
        Queue<String> problems = new ConcurrentLinkedQueue<>();
        Queue<String> waiting = new ConcurrentLinkedQueue<>(requests);
        try (GuardedServer server = GuardedServer.patient();
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < AT_A_TIME; i++) {
                Random random = new Random(SEED + i);
                clients.execute(() -> {
                    for (String next = waiting.poll(); next != null; next = waiting.poll()) {
                        problemWith(server, next, random).ifPresent(problems::add);
                    }
                });
            }
        }
        assertTrue(requests.size() > 4_000, "only " + requests.size());
        assertEquals(
                List.of(),
                problems.stream().limit(SHOWN).toList(),
                problems.size() + " of " + requests.size() + ", seed " + SEED);
    }

    private static Optional<String> problemWith(
            GuardedServer server, String request, Random random) {
        String marked = "m" + random.nextLong(Long.MAX_VALUE);
        String text = request + "GET /marked/" + marked + " HTTP/1.1\r\nHost: a\r\n\r\n";
        int cut = random.nextInt(text.length());
        try (RawClient client = server.client()) {
            client.trySending(text.substring(0, cut))
                    .trySending(text.substring(cut))
                    .tryFinishing();
            return problemIn(client.untilClosed(), marked).map(why -> why + ": " + shown(request));
        } catch (IOException e) {
            return Optional.of(e + ": " + shown(request));
        }
    }

    private static Optional<String> problemIn(String answers, String marked) {
        if (answers.contains(marked)) {
            return Optional.of("SMUGGLED");
        }
        String last = answers.substring(Math.max(0, answers.lastIndexOf("HTTP/1.1 ")));
        boolean saysSo = last.toLowerCase(Locale.ROOT).contains("connection: close\r\n");
        return saysSo || answers.isEmpty()
                ? Optional.empty()
                : Optional.of("the last answer doesn't say that it is the last");
    }

    private static String shown(String request) {
        return request.chars()
                .mapToObj(c -> c >= ' ' && c < 0x7f ? "" + (char) c : "\\x%02x".formatted(c))
                .collect(Collectors.joining());
    }
}
