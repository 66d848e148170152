package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Connections of the admin port that their clients leave open. */
class AdminConnectionsTest {
    @AutoClose private final TestDatabase database = TestDatabase.migrated();
    @AutoClose private final RunningBroker broker = RunningBroker.on(database, Map.of());

    /** Where there is no place, a probe waits until the server may close an idle connection. */
    @Test
    void five_hundred_idle_ones_leave_places_to_probes() throws IOException {
        List<Socket> idle = new ArrayList<>();
        try {
            for (int i = 0; i < 500; i++) {
                idle.add(connect());
            }
            try (Socket probe = connect()) {
                assertEquals("HTTP/1.1 200 OK", live(probe));
            }
            assertEquals("HTTP/1.1 200 OK", live(idle.getFirst()), "none was closed for the probe");
        } finally {
            for (Socket one : idle) {
                one.close();
            }
        }
    }

    private Socket connect() throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), broker.adminPort());
    }

    private static String live(Socket socket) throws IOException {
        socket.getOutputStream()
                .write(
                        "GET /observe/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                .getBytes(StandardCharsets.US_ASCII));
        return new BufferedReader(
                        new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                .readLine();
    }
}
