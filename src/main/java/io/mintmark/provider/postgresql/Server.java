package io.mintmark.provider.postgresql;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of a PostgreSQL server: a host, without the brackets of an IPv6 address, and a port.
 */
record Server(String host, int port) {
    private static final int USUAL_PORT = 5432;
    private static final int LAST_PORT = 65_535;
    private static final Pattern FORM =
            Pattern.compile(
                    "([A-Za-z0-9][A-Za-z0-9.-]{0,252}|\\[[0-9A-Fa-f:.]{2,45}])(?::([0-9]{1,5}))?");

    /** Reads {@code host} or {@code host:port}; empty if the text is neither. */
    static Optional<Server> of(String text) {
        Matcher parts = FORM.matcher(text);
        if (!parts.matches()) {
            return Optional.empty();
        }
        String host = parts.group(1);
        int port = parts.group(2) == null ? USUAL_PORT : Integer.parseInt(parts.group(2));
        return Optional.of(
                        new Server(
                                host.startsWith("[") ? host.substring(1, host.length() - 1) : host,
                                port))
                .filter(server -> port > 0 && port <= LAST_PORT);
    }

    /** The host and the port, as in a URI. */
    String authority() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }
}
