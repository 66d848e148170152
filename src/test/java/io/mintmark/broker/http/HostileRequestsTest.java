package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Thousands of hostile requests on the broker's ports: each gets an answer below 500 within 50 ms,
 * its connection ends or goes on as the answer says, and somebody else's {@code /health} is
 * answered all the while. {@code -Dhostile.requests} takes more of them, {@code -Dhostile.seed}
 * others.
 */
@Tag("heavy")
class HostileRequestsTest {
    private static final int REQUESTS = Integer.getInteger("hostile.requests", 3_000);
    private static final long SEED = Long.getLong("hostile.seed", 20_261_124);
    private static final Duration SLOW = Duration.ofMillis(50);

    /** Less than a client takes to acknowledge headers whose body waits for it. */
    private static final Duration USUAL = Duration.ofMillis(20);

    private static final int TRIES = 20;
    private static final int SHOWN = 10;

    /** The machine may be busy with other things. */
    private static final int SLOW_NEIGHBOURS_AT_MOST_ONE_IN = 20;

    private static final Pattern STATUS = Pattern.compile("HTTP/1\\.1 ([0-9]{3})");
    private static final String NEXT =
            "GET %s HTTP/1.1\r\nHost: a\r\nX-Request-ID: following\r\n\r\n";

    @AutoClose private static final World world = new World(Map.of("RATE_LIMIT_ENABLED", "false"));

    enum Port {
        PUBLIC("/health", "X-Request-ID: following"),
        ADMIN("/observe/health/live", "\"status\":\"UP\"");

        private final String path;
        private final String mark;

        /**
         * @param mark only the answer to the request that follows a hostile one has it
         */
        Port(String path, String mark) {
            this.path = path;
            this.mark = mark;
        }

        int number() {
            return this == PUBLIC ? world.broker().url().getPort() : world.broker().adminPort();
        }
    }

    private record Seen(String answers, Duration taken) {}

    @ParameterizedTest
    @EnumSource
    void hostile_requests_are_refused_or_answered_at_once(Port port) throws Exception {
        List<String> requests = HostileRequests.of(REQUESTS, SEED);
        List<String> problems = new ArrayList<>();
        Queue<Duration> neighbours = new ConcurrentLinkedQueue<>();
        AtomicBoolean done = new AtomicBoolean();
        Random random = new Random(SEED);
        try (ServerWarnings warnings = new ServerWarnings();
                ExecutorService neighbour = Executors.newSingleThreadExecutor()) {
            ask(port, "", random); // what a first request takes longer
            var asking = neighbour.submit(() -> askHealth(port, done, neighbours));
            for (String request : requests) {
                problem(port, request, random)
                        .ifPresent(problem -> problems.add(problem + ": " + shown(request)));
            }
            done.set(true);
            asking.get();
            assertEquals(List.of(), warnings.all());
        }
        assertEquals(
                List.of(),
                problems.stream().limit(SHOWN).toList(),
                problems.size() + " of " + requests.size() + ", seed " + SEED);
        Duration median = neighbours.stream().sorted().toList().get(neighbours.size() / 2);
        assertTrue(median.compareTo(USUAL) < 0, "the median of a neighbour: " + median);
        long slow = neighbours.stream().filter(HostileRequestsTest::isSlow).count();
        assertTrue(
                slow * SLOW_NEIGHBOURS_AT_MOST_ONE_IN <= neighbours.size(),
                slow + " of " + neighbours.size() + " neighbours' requests were slow");
    }

    private static Object askHealth(Port port, AtomicBoolean done, Queue<Duration> taken)
            throws IOException {
        try (RawClient client = new RawClient(port.number())) {
            for (int i = 0; !done.get() && i < 999; i++) {
                long begun = System.nanoTime();
                client.send(NEXT.formatted(port.path));
                assertEquals(200, client.answer().status());
                taken.add(Duration.ofNanos(System.nanoTime() - begun));
            }
        }
        return done.get() ? done : askHealth(port, done, taken);
    }

    private static Optional<String> problem(Port port, String request, Random random)
            throws IOException {
        Seen seen = ask(port, request, random);
        for (int i = 1; i < TRIES && isSlow(seen.taken()); i++) {
            seen = ask(port, request, random);
        }
        if (isSlow(seen.taken())) {
            return Optional.of("took " + seen.taken());
        }
        return Optional.of(seen.answers()).filter(answers -> !isRight(port, answers));
    }

    /** The request and a good one behind it, in two pieces. */
    private static Seen ask(Port port, String request, Random random) throws IOException {
        String all = request + NEXT.formatted(port.path);
        int cut = random.nextInt(all.length());
        long begun = System.nanoTime();
        try (RawClient client = new RawClient(port.number())) {
            String answers =
                    client.trySending(all.substring(0, cut))
                            .trySending(all.substring(cut))
                            .tryFinishing()
                            .untilClosed();
            return new Seen(answers, Duration.ofNanos(System.nanoTime() - begun));
        }
    }

    private static boolean isSlow(Duration taken) {
        return taken.compareTo(SLOW) > 0;
    }

    /** Every answer is below 500; the last one is the good request's, or says that it is last. */
    private static boolean isRight(Port port, String answers) {
        List<Integer> statuses =
                STATUS.matcher(answers)
                        .results()
                        .map((MatchResult found) -> Integer.valueOf(found.group(1)))
                        .toList();
        String last = answers.substring(Math.max(0, answers.lastIndexOf("HTTP/1.1 ")));
        boolean isFollowing = last.contains(port.mark) && statuses.getLast() == 200;
        boolean isLast = last.toLowerCase(Locale.ROOT).contains("connection: close\r\n");
        return !statuses.isEmpty()
                && statuses.stream().allMatch(status -> status < 500)
                && (isFollowing || isLast);
    }

    private static String shown(String request) {
        String start = request.substring(0, Math.min(200, request.length()));
        return request.length()
                + " characters, "
                + start.replace("\r", "\\r")
                        .replace("\n", "\\n")
                        .replace("\t", "\\t")
                        .replace("\0", "\\0");
    }
}
