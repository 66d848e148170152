package io.mintmark.base.config;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Where health and metrics are served, to operators only.
 *
 * @param port 0 takes a free one
 * @param tls without it, the port serves plain HTTP
 */
public record AdminSettings(InetAddress host, int port, Optional<TlsFiles> tls) {
    static final Setting<InetAddress> HOST =
            Setting.of(
                    "admin.host",
                    Formats.BIND_ADDRESS,
                    "127.0.0.1",
                    "IP address of the port for health and metrics. Containers need "
                            + "`0.0.0.0`.");
    static final Setting<Integer> PORT =
            Setting.of("admin.port", Formats.PORT, "8081", "Port for health and metrics.");

    static final TlsFiles.Pair TLS = TlsFiles.Pair.of("admin", "the admin port");

    static final List<Setting<?>> TABLE =
            Stream.of(List.of(HOST, PORT), TLS.settings())
                    .<Setting<?>>flatMap(List::stream)
                    .toList();

    static AdminSettings from(Values values) {
        return new AdminSettings(values.get(HOST), values.get(PORT), TLS.from(values));
    }
}
