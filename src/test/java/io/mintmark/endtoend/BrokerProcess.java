package io.mintmark.endtoend;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** A broker in a process of its own, which can be killed. What it prints is kept. */
public final class BrokerProcess {
    private final Map<String, String> environment;
    private final List<String> arguments;
    private final File log;
    private final List<String> printed = new CopyOnWriteArrayList<>();
    private Process process;

    /** The program with these arguments; none: it serves. */
    public BrokerProcess(Map<String, String> environment, Path directory, String... arguments) {
        this.environment = environment;
        this.arguments = List.of(arguments);
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
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "io.mintmark.Main");
        builder.command().addAll(arguments);
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

    /** kill -9. */
    void kill() {
        process.destroyForcibly().onExit().join();
    }

    void startAgain() {
        process = start();
    }

    /** SIGTERM. */
    public void stop() {
        process.destroy();
        try {
            if (!process.waitFor(40, TimeUnit.SECONDS)) {
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
