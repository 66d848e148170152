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
                    "IP address on which the admin port listens. In containers, set"
                            + " `0.0.0.0`.");
    static final Setting<Integer> PORT =
            Setting.of(
                    "admin.port",
                    Formats.PORT,
                    "8081",
                    "Port for health and metrics (the admin port).");

    static final TlsFiles.Pair TLS = TlsFiles.Pair.of("admin", "the admin port");

    static final List<Setting<?>> TABLE =
            Stream.of(List.of(HOST, PORT), TLS.settings())
                    .<Setting<?>>flatMap(List::stream)
                    .toList();

    static AdminSettings from(Values values) {
        return new AdminSettings(values.get(HOST), values.get(PORT), TLS.from(values));
    }

    private static final Setting<InetAddress> CONSOLE_HOST =
            Setting.of(
                    "console.admin.host",
                    Formats.BIND_ADDRESS,
                    "127.0.0.1",
                    "IP address on which the console's admin port listens. In containers,"
                            + " set `0.0.0.0`.");
    private static final Setting<Integer> CONSOLE_PORT =
            Setting.of(
                    "console.admin.port",
                    Formats.PORT,
                    "Port for health and metrics of the console (the console's admin port),"
                            + " for example 8083. If not set, the console has no such port.");

    private static final TlsFiles.Pair CONSOLE_TLS =
            TlsFiles.Pair.of("console.admin", "the console's admin port");

    /** The settings of the console's port, which exists only if an operator configures it. */
    static final List<Setting<?>> OF_CONSOLE =
            Stream.of(List.of(CONSOLE_PORT, CONSOLE_HOST), CONSOLE_TLS.settings())
                    .<Setting<?>>flatMap(List::stream)
                    .toList();

    /**
     * The console's port; empty if it isn't set.
     *
     * @throws InvalidSettings if another setting of it is
     */
    static Optional<AdminSettings> ofConsole(Values values) {
        Optional<Integer> port = values.find(CONSOLE_PORT);
        if (port.isEmpty()) {
            OF_CONSOLE.stream()
                    .filter(setting -> values.written(setting).isPresent())
                    .findFirst()
                    .ifPresent(setting -> {
                        throw new InvalidSettings(
                                "%s is set without %s: set both, or neither if the console needs no admin port"
                                        .formatted(setting.name(), CONSOLE_PORT.name()));
                    });
        }
        return port.map(number ->
                new AdminSettings(values.get(CONSOLE_HOST), number, CONSOLE_TLS.from(values)));
    }

    /**
     * @param setting the name of the other port's setting
     * @param own the name of this port's
     * @throws InvalidSettings if both ports are one
     */
    void requireApartFrom(InetAddress other, int otherPort, String setting, String own) {
        boolean overlap =
                other.equals(host) || other.isAnyLocalAddress() || host.isAnyLocalAddress();
        if (overlap && otherPort == port && port != 0) {
            throw new InvalidSettings(
                    "%s and %s are both %d: set %2$s to another port"
                            .formatted(setting, own, port));
        }
    }
}
