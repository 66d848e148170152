package io.mintmark.development;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.mintmark.Unchecked;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * docs/get-started.md, block by block, in an empty directory: the shell runs the commands, psql the
 * statements, and each prints what the block after it shows. "…" on the page matches anything.
 */
class GetStartedIT {
    private static final JsonMapper JSON = new JsonMapper();
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w*)\n(.*?)^```$");
    private static final Pattern SPACES = Pattern.compile(" +");
    private static final Pattern RULE = Pattern.compile("[-+]{3,}");

    /**
     * An identity provider works within a second of its row; no reader is as quick as this test.
     */
    private static final Duration EDIT = Duration.ofSeconds(5);

    /** More than the page has, for readers who try things of their own in the first minute. */
    private static final int REQUESTS_OF_A_READER = 30;

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @TempDir private Path directory;

    private final StringBuilder shell = new StringBuilder();
    private String login = "";
    private String printed = "";

    @Test
    void the_commands_of_the_page_print_what_it_shows() throws Exception {
        String page = Files.readString(Path.of("docs/get-started.md"));
        int shown = 0;
        try (DemoProcess demo = DemoProcess.start(directory)) {
            for (MatchResult block : BLOCK.matcher(page).results().toList()) {
                String text = demo.withPorts(block.group(2));
                switch (block.group(1)) {
                    case "sh" -> shell(demo, text);
                    case "sql" -> sql(text);
                    default -> {
                        shown++;
                        assertMatches(text, printed);
                    }
                }
            }
        }
        assertTrue(shown > 8, "blocks with output: " + shown);
    }

    private void shell(DemoProcess demo, String command) throws Exception {
        if (command.startsWith("mvn ")) {
            printed = demo.printed();
            assertTrue(
                    requestsLeft(demo) >= REQUESTS_OF_A_READER,
                    () -> "requests that the demo left of the rate limit: " + requestsLeft(demo));
        } else if (command.startsWith("psql ")) {
            login = command.strip();
        } else {
            command.lines()
                    .filter(line -> line.startsWith("TOKEN="))
                    .forEach(line -> shell.append(line).append('\n'));
            Eventually.holds(
                    EDIT,
                    () -> printed = Unchecked.call(() -> run(shell + command)),
                    answer -> !answer.contains("\"invalid_audience\""));
        }
    }

    /** Requests from this machine that the broker accepts until the current minute ends. */
    private static int requestsLeft(DemoProcess demo) {
        HttpResponse<Void> answer =
                Unchecked.call(() ->
                        CLIENT.send(
                                HttpRequest.newBuilder(
                                                URI.create(
                                                        demo.withPorts(
                                                                "http://localhost:8080/credentials/keys")))
                                        .build(),
                                BodyHandlers.discarding()));
        return Integer.parseInt(answer.headers().firstValue("X-RateLimit-Remaining").orElseThrow());
    }

    private void sql(String statements) throws Exception {
        Path file = Files.writeString(directory.resolve("statements.sql"), statements);
        printed = run(login + " -v ON_ERROR_STOP=1 -f " + file);
    }

    private static String run(String command) throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder("bash", "-ec", command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), command + "\n" + output);
        return output;
    }

    private static void assertMatches(String shown, String printed) throws IOException {
        if (shown.startsWith("{")) {
            assertSame(JSON.readTree(shown), JSON.readTree(printed));
        } else {
            assertLines(shown, printed);
        }
    }

    /** Whatever the order of the members. */
    private static void assertSame(JsonNode shown, JsonNode printed) {
        if (shown.isObject()) {
            assertEquals(names(shown), names(printed), printed::toString);
            shown.properties()
                    .forEach(member -> assertSame(member.getValue(), printed.get(member.getKey())));
        } else if (!shown.asText().equals("…")) {
            assertEquals(shown, printed);
        }
    }

    private static Set<String> names(JsonNode object) {
        return object.properties().stream().map(Map.Entry::getKey).collect(Collectors.toSet());
    }

    /** Whatever the widths of columns; in the demo's output the text need only occur. */
    private static void assertLines(String shown, String printed) {
        String pattern =
                normal(shown)
                        .lines()
                        .map(line ->
                                Stream.of(line.split("…", -1))
                                        .map(Pattern::quote)
                                        .collect(Collectors.joining(".*")))
                        .collect(Collectors.joining("\n"));
        assertTrue(
                Pattern.compile(pattern).matcher(normal(printed)).find(),
                () -> "The page shows:\n" + shown + "\nprinted was:\n" + printed);
    }

    private static String normal(String text) {
        return RULE.matcher(SPACES.matcher(text.strip()).replaceAll(" "))
                .replaceAll("-")
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .collect(Collectors.joining("\n"));
    }
}
