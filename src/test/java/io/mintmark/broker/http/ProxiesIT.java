package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The malformed requests again, through reverse proxies whose clients share their connections to
 * the server: whatever one client sends, another gets the answers to its own requests. Run by
 * {@code mvn test -Pproxies}; {@code -Dproxies} names those to take, {@code -Dsmuggling.requests}
 * and {@code -Dsmuggling.seed} are those of {@link SmugglingTest}.
 */
class ProxiesIT {
    private static final int REQUESTS = Integer.getInteger("smuggling.requests", 3_000);
    private static final long SEED = Long.getLong("smuggling.seed", 20_260_101);
    private static final Duration A_MOMENT = Duration.ofMillis(30);
    private static final int ASKED_AFTER_EACH = 2;
    private static final int FAILED_AT_MOST_ONE_IN = 50;
    private static final String ATTACKER = "attacker";
    private static final int OK = 200;
    private static final int SERVER_ERROR = 500;
    private static final int SHOWN = 20;

    @TempDir private Path directory;
    private final List<String> problems = new ArrayList<>();
    private int asked;
    private int failed;

    static Stream<String> proxies() {
        return Stream.of(System.getProperty("proxies", "nginx,haproxy,trafficserver").split(","));
    }

    @ParameterizedTest
    @MethodSource("proxies")
    void no_client_gets_the_answer_to_anothers_request(String name) throws IOException {
        List<String> requests = new ArrayList<>(HiddenRequests.all(marked(ATTACKER), SEED));
        MalformedRequests.all(SEED).stream()
                .limit(REQUESTS)
                .forEach(request -> requests.add(request + marked(ATTACKER)));
        try (GuardedServer server = GuardedServer.withLongTimeouts();
                ReverseProxy proxy = ReverseProxy.start(name, directory, server.port())) {
            askBesides(proxy, requests);
            assertTrue(server.requests().size() >= asked - failed, "they went past the server");
        }
        assertEquals(
                List.of(),
                problems.stream().limit(SHOWN).toList(),
                problems.size() + " of " + asked + " behind " + name + ", seed " + SEED);
        assertTrue(
                failed <= asked / FAILED_AT_MOST_ONE_IN,
                failed + " of " + asked + " failed behind " + name);
    }

    private void askBesides(ReverseProxy proxy, List<String> requests) throws IOException {
        RawClient honest = new RawClient(proxy.port());
        try {
            for (String request : requests) {
                try (RawClient attacker = new RawClient(proxy.port())) {
                    attacker.trySending(request);
                    attacker.isAnsweredWithin(A_MOMENT);
                    for (int i = 0; i < ASKED_AFTER_EACH; i++) {
                        if (!isAnswered(honest, request)) {
                            failed++;
                            honest.close();
                            honest = new RawClient(proxy.port());
                        }
                    }
                }
            }
        } finally {
            honest.close();
        }
    }

    /** Whether the client got an answer, and not the proxy's word that there is none. */
    private boolean isAnswered(RawClient honest, String after) {
        String mark = "honest" + asked++;
        try {
            RawAnswer answer = honest.send(marked(mark)).answer();
            if (answer.status() >= SERVER_ERROR && !answer.headers().containsKey("x-request-id")) {
                return false;
            }
            if (answer.status() != OK || !answer.body().equals(mark)) {
                problems.add(answer + " instead of " + mark + " after " + shown(after));
            }
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static String marked(String mark) {
        return "GET /marked/" + mark + " HTTP/1.1\r\nHost: a\r\n\r\n";
    }

    private static String shown(String request) {
        return request.chars()
                .mapToObj(c -> c >= ' ' && c < 0x7f ? "" + (char) c : "\\x%02x".formatted(c))
                .collect(Collectors.joining());
    }
}
