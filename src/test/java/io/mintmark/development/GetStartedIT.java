package io.mintmark.development;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.mintmark.Unchecked;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
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

    private static final Duration START = Duration.ofMinutes(3);

    /**
     * An identity provider works within a second of its row; no reader is as quick as this test.
     */
    private static final Duration EDIT = Duration.ofSeconds(5);

    @TempDir private Path directory;

    private final Map<String, String> ports = new HashMap<>();
    private final StringBuilder shell = new StringBuilder();
    private String login = "";
    private String printed = "";

    @Test
    void the_commands_of_the_page_print_what_it_shows() throws Exception {
        Map<String, String> environment = new HashMap<>();
        for (DemoPorts.Port port : DemoPorts.Port.values()) {
            String free = Integer.toString(RunningBroker.freePort());
            environment.put(port.variable(), free);
            ports.put(port.usual(), free);
        }
        String page = Files.readString(Path.of("docs/get-started.md"));
        int shown = 0;
        Path output = directory.resolve("demo.log");
        for (String source : List.of("db", "src")) {
            Files.createSymbolicLink(directory.resolve(source), Path.of(source).toAbsolutePath());
        }
        Process demo = demo(environment, output);
        try {
            for (MatchResult block : BLOCK.matcher(page).results().toList()) {
                String text = withPorts(block.group(2));
                switch (block.group(1)) {
                    case "sh" -> shell(output, text);
                    case "sql" -> sql(text);
                    default -> {
                        shown++;
                        assertMatches(text, printed);
                    }
                }
            }
        } finally {
            demo.destroy();
            demo.waitFor();
        }
        assertTrue(shown > 8, "blocks with output: " + shown);
    }

    private void shell(Path output, String command) throws Exception {
        if (command.startsWith("mvn ")) {
            printed = started(output);
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

    private Process demo(Map<String, String> environment, Path output) throws IOException {
        String classes =
                Pattern.compile(File.pathSeparator)
                        .splitAsStream(System.getProperty("java.class.path"))
                        .map(entry -> Path.of(entry).toAbsolutePath().toString())
                        .collect(Collectors.joining(File.pathSeparator));
        ProcessBuilder builder =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx256m",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                classes,
                                Development.class.getName())
                        .directory(directory.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        return builder.start();
    }

    private static String started(Path output) {
        String[] last = new String[1];
        Eventually.holds(
                START,
                () -> last[0] = Unchecked.call(() -> Files.readString(output)),
                text -> text.contains("Mintmark is up.") || text.contains("died"));
        return last[0];
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

    private String withPorts(String text) {
        String replaced = text;
        for (Map.Entry<String, String> port : ports.entrySet()) {
            replaced = replaced.replace(":" + port.getKey(), ":" + port.getValue());
        }
        return replaced;
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
            assertEquals(names(shown), names(printed));
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
