package io.mintmark.development;

import io.mintmark.wiring.StartFailed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The ports of all that is started for trying out, looked at before anything is. */
final class DemoPorts implements AutoCloseable {
    static final int IDENTITY_PROVIDER = 8090;
    static final int STORAGE = 8091;
    static final int DATABASE = 8092;

    private static final String HINT =
            "ss -ltnp (on macOS: lsof -nP -iTCP -sTCP:LISTEN) says what uses it.";

    private final List<ServerSocket> held = new ArrayList<>();
    private final List<String> taken = new ArrayList<>();

    private DemoPorts() {}

    /**
     * Looks at all of them.
     *
     * @throws StartFailed with a line for each that is taken
     */
    static void requireFree(Map<String, String> environment) {
        try (DemoPorts ports = new DemoPorts()) {
            ports.take(environment, "SERVER_PORT", "8080", "the broker");
            ports.take(environment, "ADMIN_PORT", "8081", "the broker's operators");
            ports.take(environment, "CONSOLE_PORT", "8082", "the console");
            ports.take(IDENTITY_PROVIDER, "the identity provider for trying out", "");
            ports.take(STORAGE, "the storage for trying out", "");
            ports.take(DATABASE, "PostgreSQL", "");
            if (!ports.taken.isEmpty()) {
                throw new StartFailed(String.join("\n", ports.taken) + "\n" + HINT);
            }
        }
    }

    /** A number that is none is the settings' to refuse. */
    private void take(Map<String, String> environment, String setting, String usual, String whose) {
        String port = environment.getOrDefault(setting, usual);
        if (port.matches("\\d{1,4}|[1-5]\\d{4}")) {
            take(Integer.parseInt(port), whose, ", or set another: %s=…".formatted(setting));
        }
    }

    /** Held until all have been looked at, so that none is there for two. */
    private void take(int port, String whose, String otherwise) {
        try {
            ServerSocket socket = new ServerSocket();
            held.add(socket);
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        } catch (IOException e) {
            taken.add(
                    "Port %d, of %s, is taken: stop what uses it%s"
                            .formatted(port, whose, otherwise));
        }
    }

    @Override
    public void close() {
        held.forEach(DemoPorts::close);
    }

    private static void close(ServerSocket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
