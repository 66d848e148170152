package io.mintmark.auditor.witness;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Eventually;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;

/** Starts and ends of the processes of witnesses. */
final class Listening {
    private Listening() {}

    /** Waits until a process listens on a port of this machine. */
    static void await(int port, Process process) {
        Eventually.holds(() -> {
            assertTrue(process.isAlive(), "it ended at its start");
            try (Socket _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
                return true;
            } catch (IOException e) {
                return false;
            }
        });
    }

    /** Kills a process, if there is one, and waits until it is gone. */
    static void kill(@Nullable Process process) {
        if (process != null) {
            process.destroyForcibly().onExit().join();
        }
    }
}
