package io.mintmark.config;

import java.net.InetAddress;
import java.util.List;

/**
 * Where health and metrics are served, to operators only.
 *
 * @param port 0 takes a free one
 */
public record AdminSettings(InetAddress host, int port) {
    static final Setting<InetAddress> HOST =
            Setting.of(
                    "admin.host",
                    Formats.BIND_ADDRESS,
                    "127.0.0.1",
                    "Address of the port for health and metrics. Containers need `0.0.0.0`.");
    static final Setting<Integer> PORT =
            Setting.of("admin.port", Formats.PORT, "8081", "The port for health and metrics.");

    static final List<Setting<?>> TABLE = List.of(HOST, PORT);

    static AdminSettings from(Values values) {
        return new AdminSettings(values.get(HOST), values.get(PORT));
    }
}
