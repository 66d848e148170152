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
                    "IP address on which the public port listens.");
    static final Setting<Integer> PORT =
            Setting.of(
                    "server.port",
                    Formats.PORT,
                    "8080",
                    "Port for clients and providers (the public port). 0 selects a free port.");

    static final Setting<Duration> DRAIN =
            Setting.of(
                    "server.drain",
                    Formats.duration(Duration.ZERO, Duration.ofMinutes(10)),
                    "PT5S",
                    "Maximum time for which the public port continues to serve after"
                            + " SIGTERM. If no connection is open, the port closes at once.");

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
