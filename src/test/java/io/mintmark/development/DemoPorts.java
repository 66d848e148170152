package io.mintmark.development;

import io.mintmark.Unchecked;
import io.mintmark.base.start.StartFailed;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The ports of development mode. All must be free before anything starts. */
final class DemoPorts implements AutoCloseable {
    private static final String HINT =
            "ss -ltnp (on macOS: lsof -nP -iTCP -sTCP:LISTEN) says what uses it.";

    private final List<ServerSocket> held = new ArrayList<>();
    private final List<String> taken = new ArrayList<>();

    /** What listens, the variable that sets its port, and the default. */
    enum Port {
        BROKER("SERVER_PORT", "8080", "the broker"),
        ADMIN("ADMIN_PORT", "8081", "the broker's operators"),
        CONSOLE("CONSOLE_PORT", "8082", "the console"),
        IDENTITY_PROVIDER("DEMO_IDP_PORT", "8090", "the demo's identity provider"),
        STORAGE("DEMO_STORAGE_PORT", "8091", "the demo's storage"),
        DATABASE("DEMO_DATABASE_PORT", "8092", "PostgreSQL");

        private final String variable;
        private final String usual;
        private final String owner;

        Port(String variable, String usual, String owner) {
            this.variable = variable;
            this.usual = usual;
            this.owner = owner;
        }

        String variable() {
            return variable;
        }

        String usual() {
            return usual;
        }

        private String text(Map<String, String> environment) {
            return environment.getOrDefault(variable, usual);
        }

        private static boolean isPort(String text) {
            return text.matches(
                    "[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5]");
        }

        /**
         * Its number.
         *
         * @throws StartFailed if the variable has none
         */
        int number(Map<String, String> environment) {
            String text = text(environment);
            if (!isPort(text)) {
                throw new StartFailed(
                        "%s is '%s'; it must be a port, 1 to 65535".formatted(variable, text));
            }
            return Integer.parseInt(text);
        }
    }

    private DemoPorts() {}

    /**
     * Looks at all of them.
     *
     * @throws StartFailed with a line for each that is taken
     */
    static void requireFree(Map<String, String> environment) {
        try (DemoPorts ports = new DemoPorts()) {
            for (Port port : Port.values()) {
                ports.take(environment, port);
            }
            if (!ports.taken.isEmpty()) {
                throw new StartFailed(String.join("\n", ports.taken) + "\n" + HINT);
            }
        }
    }

    /** Held until all have been looked at, so that no two get the same. */
    private void take(Map<String, String> environment, Port port) {
        int number = port.number(environment);
        try {
            ServerSocket socket = new ServerSocket();
            held.add(socket);
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), number));
        } catch (IOException e) {
            taken.add(
                    "Port %d, of %s, is taken: stop what uses it, or set another: %s=…"
                            .formatted(number, port.owner, port.variable));
        }
    }

    @Override
    public void close() {
        held.forEach(DemoPorts::close);
    }

    private static void close(ServerSocket socket) {
        Unchecked.run(socket::close);
    }
}
