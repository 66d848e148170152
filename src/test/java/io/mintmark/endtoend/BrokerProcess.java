package io.mintmark.endtoend;

import io.mintmark.Unchecked;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** A broker in a process of its own, which can be killed. What it prints is kept. */
public final class BrokerProcess {
    /** Within which it starts on a machine where other suites run. */
    static final Duration START = Eventually.PATIENCE;

    private final Map<String, String> environment;
    private final List<String> program;
    private final File log;
    private final List<String> printed = new CopyOnWriteArrayList<>();
    private Process process;

    /** The program with these arguments; none: it serves. */
    public BrokerProcess(Map<String, String> environment, Path directory, String... arguments) {
        this(
                Stream.concat(Stream.of("io.mintmark.Main"), Stream.of(arguments)).toList(),
                environment,
                directory);
    }

    /**
     * A class of the tests that runs the program.
     *
     * @param program options of the JVM, the class, its arguments
     */
    BrokerProcess(List<String> program, Map<String, String> environment, Path directory) {
        this.environment = environment;
        this.program = program;
        this.log = directory.resolve("broker.log").toFile();
        this.process = start();
    }

    private Process start() {
        ProcessBuilder builder =
                new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx256m",
                        "-XX:ErrorFile=" + log.toPath().resolveSibling("hs_err_%p.log"),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"));
        builder.command().addAll(program);
        builder.environment().put("DATABASE_START_TIMEOUT", START.toString());
        builder.environment().putAll(environment);
        builder.redirectError(ProcessBuilder.Redirect.appendTo(log));
        try {
            Process started = builder.start();
            Thread.ofVirtual().start(() -> collect(started));
            return started;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void collect(Process from) {
        try (BufferedReader lines = from.inputReader()) {
            lines.lines().forEach(printed::add);
        } catch (IOException | UncheckedIOException e) {
            // it was killed
        }
    }

    /** Waits until it serves, and fails with what it wrote if it has ended or never does. */
    public void awaits(BooleanSupplier serves) {
        try {
            Eventually.holds(START, () -> !process.isAlive() || serves.getAsBoolean());
        } catch (AssertionError e) {
            throw new AssertionError("it doesn't serve; it wrote: " + log(), e);
        }
        if (!process.isAlive()) {
            throw new AssertionError("it ended with %d: %s".formatted(status(), log()));
        }
    }

    /** kill -9. */
    void kill() {
        process.destroyForcibly().onExit().join();
    }

    void startAgain() {
        process = start();
    }

    /** Bytes that are alive on its heap, after a full collection. The collector's filling isn't. */
    long liveHeap() {
        ProcessBuilder jcmd =
                new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        Long.toString(process.pid()),
                        "GC.class_histogram");
        try (BufferedReader lines = jcmd.start().inputReader()) {
            return lines.lines()
                    .map(line -> line.trim().split(" +", -1))
                    .filter(columns -> columns.length > 3 && columns[0].endsWith(":"))
                    .filter(columns -> !columns[3].contains("FillerElement"))
                    .mapToLong(columns -> Long.parseLong(columns[2]))
                    .sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** SIGSTOP: nothing of it runs any more. */
    void freeze() {
        signal("STOP");
    }

    /** SIGCONT. */
    void thaw() {
        signal("CONT");
    }

    private void signal(String name) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What it wrote on standard error. */
    String log() {
        return Unchecked.call(() -> Files.readString(log.toPath()));
    }

    /** SIGTERM. */
    public void stop() {
        process.destroy();
        try {
            if (!process.waitFor(Eventually.SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** How it ended, once it has. */
    public int status() {
        return process.onExit().join().exitValue();
    }

    /** The lines of its standard output, over all its lives. */
    public List<String> printed() {
        return List.copyOf(printed);
    }
}
