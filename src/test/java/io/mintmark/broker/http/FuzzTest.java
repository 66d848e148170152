package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.config.LogSettings;
import io.mintmark.base.config.LogSettings.LogFormat;
import io.mintmark.base.config.LogSettings.LogLevel;
import io.mintmark.base.logging.Logging;
import io.mintmark.broker.http.RandomRequests.RandomRequest;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintStream;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * Random requests get documented answers. The seed is always the same, unless the profile {@code
 * fuzz} asks for a longer run.
 */
class FuzzTest {
    private static final int REQUESTS = Integer.getInteger("fuzz.requests", 2000);
    private static final int SERVER_ERROR = 500;
    private static final int CONTINUE = 100;
    private static final int TOKEN_LASTS = 500;
    private static final int ENOUGH = 20;
    private static final int SUCCESS = 200;
    private static final String UNREADABLE = "The request is not well-formed";

    private final InterfaceDocument document = new InterfaceDocument();
    private final List<String> problems = new ArrayList<>();
    private int answered;
    private int read;
    private int successes;

    @Test
    void no_request_gets_an_answer_outside_the_document_or_leaves_a_stack_trace() {
        long seed = seed();
        PrintStream usual = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        try (World world = new World(Map.of("RATE_LIMIT_ENABLED", "false"))) {
            System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
            Logging.install(new LogSettings(LogFormat.TEXT, LogLevel.INFO));
            fuzz(world, new RandomRequests(document, new Random(seed)));
        } finally {
            System.setErr(usual);
            Logging.install(new LogSettings(LogFormat.TEXT, LogLevel.WARNING));
        }
        assertEquals("", String.join("\n", problems), "seed " + seed);
        assertTrue(answered > REQUESTS * 9 / 10, "only " + answered + " answers");
        assertTrue(read > answered / 2, "only " + read + " were readable");
        assertTrue(successes > answered / 10, "only " + successes + " succeeded");
        String written = log.toString(StandardCharsets.UTF_8);
        assertTrue(written.contains("POST /credentials/mint -> 200"), "nothing was logged at all");
        assertEquals(
                List.of(),
                written.lines().filter(line -> line.startsWith("\tat ")).toList(),
                "seed " + seed);
    }

    private static long seed() {
        String given = System.getProperty("fuzz.seed", "20260101");
        return given.equals("random") ? new SecureRandom().nextLong() : Long.parseLong(given);
    }

    private void fuzz(World world, RandomRequests requests) {
        String token = world.token();
        for (int i = 0; i < REQUESTS && problems.size() < ENOUGH; i++) {
            if (i % TOKEN_LASTS == 0) {
                token = world.token();
            }
            RandomRequest request = requests.next(token);
            problemsWith(world, request)
                    .forEach(problem -> problems.add(shown(request) + "\n  " + problem));
        }
    }

    private static String shown(RandomRequest request) {
        return request.text().replace("\r", "\\r").replace("\n", "\\n").replace("\0", "\\0");
    }

    private List<String> problemsWith(World world, RandomRequest request) {
        try (RawClient client = new RawClient(world.broker().url().getPort())) {
            client.trySending(request.text()).finish();
            RawAnswer answer = answer(client, request);
            answered++;
            return problemsWith(request, answer);
        } catch (EOFException | SocketException e) {
            return isWhole(request) ? List.of("no answer: " + e.getMessage()) : List.of();
        } catch (IOException e) {
            return List.of("no answer: " + e);
        }
    }

    private static RawAnswer answer(RawClient client, RandomRequest request) throws IOException {
        RawAnswer answer = request.isHead() ? client.head() : client.answer();
        return answer.status() == CONTINUE ? answer(client, request) : answer;
    }

    private List<String> problemsWith(RandomRequest request, RawAnswer answer) {
        if (answer.status() >= SERVER_ERROR) {
            return List.of(answer.toString());
        }
        read += answer.body().contains(UNREADABLE) ? 0 : 1;
        successes += answer.status() == SUCCESS ? 1 : 0;
        boolean withBody = !request.isHead();
        List<String> found = document.problems(document.place(request.line()), answer, withBody);
        return found.isEmpty()
                        || document.problems(document.other("unreadable"), answer, withBody)
                                .isEmpty()
                ? List.of()
                : List.of(answer.status() + " " + answer.headers() + ": " + found);
    }

    /** Whether the server has no reason to wait for more: then it must answer. */
    private static boolean isWhole(RandomRequest request) {
        String text = request.text().toLowerCase(Locale.ROOT);
        return text.indexOf("content-length:") == text.lastIndexOf("content-length:")
                && !text.contains("transfer-encoding:");
    }
}
