package io.mintmark.development;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * What makes development mode end with the Maven that started it, and PostgreSQL with development
 * mode, however they end: SIGKILL runs no shutdown hook, and an orphan would hold the ports.
 */
final class Lifeline {
    /**
     * Waits until its standard input ends, which the kernel sees to when the process at the other
     * end of the pipe is gone. Only the server that wrote the file is stopped, as "fast" does.
     */
    private static final String STOP_AT_END_OF_INPUT =
            """
            trap '' INT TERM HUP
            cat > /dev/null
            [ "$(head -n 1 "$1" 2> /dev/null)" = "$2" ] && kill -INT "$2"
            """;

    private Lifeline() {}

    /** Ends this process, with its shutdown hooks, as soon as the one that started it is gone. */
    static void endWithParent() {
        ProcessHandle.current()
                .parent()
                .ifPresent(parent -> {
                    var _ = parent.onExit().thenRun(() -> System.exit(0));
                });
    }

    /**
     * Stops a PostgreSQL server as soon as this process is gone.
     *
     * @param pidFile {@code postmaster.pid} in its data directory
     */
    static void stopWithThisProcess(Path pidFile, long pid) throws IOException {
        new ProcessBuilder(
                        "sh",
                        "-c",
                        STOP_AT_END_OF_INPUT,
                        "sh",
                        pidFile.toAbsolutePath().toString(),
                        Long.toString(pid))
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start();
    }

    /**
     * Stops a PostgreSQL server as "fast" does. {@code ProcessHandle.destroy} would be "smart",
     * which waits until all of its clients are gone.
     */
    static void stop(ProcessHandle server) throws IOException {
        new ProcessBuilder("kill", "-INT", Long.toString(server.pid())).inheritIO().start();
        try {
            var _ = server.onExit().get(30, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException(
                    "PostgreSQL of an earlier run (process %d) doesn't end; end it and start again."
                            .formatted(server.pid()),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }
}
