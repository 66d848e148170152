package io.mintmark.deployment;

import io.mintmark.Unchecked;
import io.mintmark.endtoend.Eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The packed program in a process of its own, started as operators start it. */
final class Replica implements AutoCloseable {
    private static final Duration TIMEOUT = Eventually.PATIENCE;
    private static final int SHOWN = 1_000;
    private static final byte[] QUESTION =
            "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII);

    private final Path log;
    private final int port;
    private final Process process;

    private Replica(ProcessBuilder builder, int port, Path log) throws IOException {
        this.log = log;
        this.port = port;
        this.process = builder.start();
    }

    /**
     * Starts one and doesn't wait for it.
     *
     * @param command the launcher, or what else starts it
     * @param port where it answers
     * @param log where its standard error goes
     */
    static Replica start(
            List<String> command, Map<String, String> environment, int port, Path log) {
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().putAll(environment);
        return Unchecked.call(() -> new Replica(builder, port, log));
    }

    /** Waits for its first answer. */
    void awaitAnswers() {
        if (!comesToAnswer()) {
            String log = log();
            throw new IllegalStateException(
                    "it ended: " + log.substring(Math.max(0, log.length() - SHOWN)));
        }
    }

    /** Waits for its first answer, and says false if it ended before. */
    boolean comesToAnswer() {
        Eventually.holds(TIMEOUT, () -> !process.isAlive() || isAnswering());
        return process.isAlive();
    }

    private boolean isAnswering() {
        try (Socket socket = new Socket(InetAddress.ofLiteral("127.0.0.1"), port)) {
            socket.getOutputStream().write(QUESTION);
            String answer =
                    new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
            return answer.equals("HTTP/1.1 200");
        } catch (IOException e) {
            return false;
        }
    }

    /** Of the process that the command became. */
    long pid() {
        return process.pid();
    }

    /** What it wrote on standard error. */
    String log() {
        return Unchecked.call(() -> Files.readString(log));
    }

    /** SIGTERM; the status with which it ended. */
    int stop() {
        process.destroy();
        return awaitEnd();
    }

    /** Waits until it has ended; the status with which it did. */
    int awaitEnd() {
        try {
            if (!process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("it doesn't stop: " + log());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
