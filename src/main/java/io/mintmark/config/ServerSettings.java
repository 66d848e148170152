package io.mintmark.config;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;

/**
 * Where the public interface listens, and what it puts up with.
 *
 * @param port 0 takes a free one
 */
public record ServerSettings(InetAddress host, int port, Duration drain, ServerBounds bounds) {
    static final Setting<InetAddress> HOST =
            Setting.of(
                    "server.host", Formats.BIND_ADDRESS, "0.0.0.0", "Address of the public port.");
    static final Setting<Integer> PORT =
            Setting.of("server.port", Formats.PORT, "8080", "The public port; 0 takes a free one.");

    static final Setting<Duration> DRAIN =
            Setting.of(
                    "server.drain",
                    Formats.duration(Duration.ZERO, Duration.ofMinutes(10)),
                    "PT5S",
                    "How long the port serves on after the stop began, with answers that end their"
                            + " connections; it is over as soon as no connection is open.");

    static final List<Setting<?>> TABLE = List.of(HOST, PORT, DRAIN);

    static ServerSettings from(Values values) {
        return new ServerSettings(
                values.get(HOST), values.get(PORT), values.get(DRAIN), ServerBounds.from(values));
    }
}
