package io.mintmark.provider.postgresql;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.provider.PresentedCertificate;
import io.mintmark.provider.Settings;

import java.util.Optional;
import java.util.Set;

/**
 * The settings of an access provider of type {@code postgresql}.
 *
 * @param server where the broker connects to
 * @param database in which it works
 * @param login its own role
 * @param passwordFile the reference to the role's password, if it has one
 * @param client what the broker presents in TLS instead
 * @param caCertificate PEM of the server's authorities; empty for the public ones
 * @param clientServer where clients connect to
 * @param clientDatabase in which they work
 */
record PostgresSettings(
        Server server,
        String database,
        String login,
        Optional<String> passwordFile,
        Optional<PresentedCertificate> client,
        Optional<String> caCertificate,
        Server clientServer,
        String clientDatabase) {
    private static final Set<String> NAMES =
            Set.of(
                    "host",
                    "database",
                    "login",
                    "password",
                    "client_certificate",
                    "client_key",
                    "ca_certificate",
                    "client_host",
                    "client_database");

    /** Reads the access provider's settings. */
    static PostgresSettings of(JsonNode settings) {
        Settings provider = Settings.ofProvider(settings, NAMES);
        Server server = server(provider, "host", provider.requiredText("host"));
        String database = name(provider, "database", provider.requiredText("database"));
        String login = name(provider, "login", provider.requiredText("login"));
        Optional<String> password = provider.secretFile("password");
        Optional<PresentedCertificate> client = PresentedCertificate.of(provider);
        if (password.isPresent() == client.isPresent()) {
            throw provider.unusable(
                    "password", "or 'client_certificate' must be set, but not both");
        }
        return new PostgresSettings(
                server,
                database,
                login,
                password,
                client,
                provider.text("ca_certificate"),
                provider.text("client_host")
                        .map(text -> server(provider, "client_host", text))
                        .orElse(server),
                provider.text("client_database")
                        .map(text -> name(provider, "client_database", text))
                        .orElse(database));
    }

    /** Whether connections use TLS: all except those to the local machine without an authority. */
    boolean hasTls() {
        return caCertificate.isPresent()
                || client.isPresent()
                || !Destinations.isLoopback(server.host());
    }

    /** The libpq name of how clients verify the server. */
    String clientSslMode() {
        return hasTls() || !Destinations.isLoopback(clientServer.host()) ? "verify-full" : "prefer";
    }

    private static Server server(Settings provider, String name, String text) {
        return Server.of(text)
                .orElseThrow(() ->
                        provider.unusable(
                                name, "is '%s', which is not a host or host:port".formatted(text)));
    }

    /** A name of at most 63 printable ASCII characters; the server cuts longer ones. */
    static String name(Settings settings, String setting, String text) {
        if (text.length() > Sql.LONGEST_NAME || text.chars().anyMatch(c -> c < ' ' || c > '~')) {
            throw settings.unusable(
                    setting, "must have at most 63 characters, all of them printable ASCII");
        }
        return text;
    }
}
