package io.mintmark.base.config;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The address and the bounds of the public port.
 *
 * @param port 0 takes a free one
 * @param tls without it, the port serves plain HTTP
 */
public record ServerSettings(
        InetAddress host, int port, Optional<TlsFiles> tls, Duration drain, ServerBounds bounds) {
    static final Setting<InetAddress> HOST =
            Setting.of(
                    "server.host",
                    Formats.BIND_ADDRESS,
                    "0.0.0.0",
                    "IP address of the public port.");
    static final Setting<Integer> PORT =
            Setting.of("server.port", Formats.PORT, "8080", "Public port; 0 selects a free one.");

    static final Setting<Duration> DRAIN =
            Setting.of(
                    "server.drain",
                    Formats.duration(Duration.ZERO, Duration.ofMinutes(10)),
                    "PT5S",
                    "Longest time that the port keeps serving after SIGTERM; it closes at once if"
                            + " no connection is open.");

    static final TlsFiles.Pair TLS = TlsFiles.Pair.of("server", "the public port");

    static final List<Setting<?>> TABLE =
            Stream.of(List.of(HOST, PORT), TLS.settings(), List.of(DRAIN))
                    .<Setting<?>>flatMap(List::stream)
                    .toList();

    static ServerSettings from(Values values) {
        return new ServerSettings(
                values.get(HOST),
                values.get(PORT),
                TLS.from(values),
                values.get(DRAIN),
                ServerBounds.from(values));
    }
}
