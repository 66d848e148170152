package io.mintmark.development;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Nothing of development mode outlives the process that started it, whatever kills that one. */
@Tag("heavy")
@Execution(ExecutionMode.CONCURRENT)
class LifelineTest {
    @TempDir private Path directory;

    private Process shell;
    private ProcessHandle program;
    private ProcessHandle server;

    /** What development mode does with its processes; its parent is a shell, as Maven would be. */
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) throws IOException, InterruptedException {
            Lifeline.endWithParent();
            DemoDatabase.start(Path.of(arguments[0]), 0);
            System.out.println("up " + ProcessHandle.current().pid());
            Thread.currentThread().join();
        }
    }

    @BeforeEach
    void start() throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "sh",
                                "-c",
                                "\"$@\"; true", // the shell stays beside what it runs
                                "sh",
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                Program.class.getName(),
                                directory.resolve("postgres").toString()));
        shell = new ProcessBuilder(command).redirectErrorStream(true).start();
        program = ProcessHandle.of(Long.parseLong(firstLine("up "))).orElseThrow();
        server =
                DemoDatabase.server(directory.resolve("postgres"))
                        .orElseThrow(() -> new AssertionError("no PostgreSQL was started"));
    }

    private String firstLine(String beginning) throws IOException {
        BufferedReader lines = shell.inputReader();
        List<String> seen = new ArrayList<>();
        String line = lines.readLine();
        while (line != null && !line.startsWith(beginning)) {
            seen.add(line);
            line = lines.readLine();
        }
        return Optional.ofNullable(line)
                .map(found -> found.substring(beginning.length()))
                .orElseThrow(() -> new AssertionError(String.join("\n", seen)));
    }

    @AfterEach
    void endAll() {
        server.destroyForcibly();
        program.destroyForcibly();
        shell.destroyForcibly();
    }

    @Test
    void everything_ends_when_the_process_that_started_it_is_killed() {
        shell.destroyForcibly();

        Eventually.holds(() -> !program.isAlive());
        Eventually.holds(() -> !server.isAlive());
    }

    @Test
    void the_database_ends_when_the_broker_is_killed() {
        assertTrue(server.isAlive());

        program.destroyForcibly();

        Eventually.holds(() -> !server.isAlive());
    }
}
