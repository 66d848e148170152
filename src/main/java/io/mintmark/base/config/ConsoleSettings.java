package io.mintmark.base.config;

import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * All that operators decide about a console, checked.
 *
 * @param port 0 takes a free one
 * @param tls without it, the port serves plain HTTP
 * @param admin where health and metrics are served; without it, nowhere
 * @param url where browsers reach it; no slash and no path at the end
 * @param issuer the identity provider that people log in at, exactly as it calls itself
 * @param clientId which client of it the console is
 * @param cookieKeyFile 32 bytes in base64, which sessions are encrypted with
 * @param auditKeysFile the public keys that seal the audit log, PEM; without them nothing is proven
 * @param otherCells the consoles of other cells
 * @param broker where the console sends decisions on requests for access; without it, pages show
 *     commands for them instead
 */
public record ConsoleSettings(
        InetAddress host,
        int port,
        Optional<TlsFiles> tls,
        Optional<AdminSettings> admin,
        URI url,
        URI issuer,
        String clientId,
        Password clientSecret,
        Path cookieKeyFile,
        Optional<Path> auditKeysFile,
        List<URI> otherCells,
        Optional<URI> broker,
        ServerBounds bounds,
        Duration drain,
        DatabaseSettings database,
        RateLimitSettings rateLimit,
        AllowedHosts allowedHosts,
        LogSettings log) {
    static final Setting<InetAddress> HOST =
            Setting.of(
                    "console.host",
                    Formats.BIND_ADDRESS,
                    "0.0.0.0",
                    "IP address on which the console's port listens.");
    static final Setting<Integer> PORT =
            Setting.of(
                    "console.port",
                    Formats.PORT,
                    "8082",
                    "Port of the console. 0 selects a free port.");
    static final Setting<URI> URL =
            Setting.of(
                    "console.url",
                    UrlFormats.OWN,
                    "URL at which browsers reach the console, without a path. At the"
                            + " identity provider, register `/oidc/redirect` and `/oidc/logged-out`"
                            + " below this URL. Required for the console.");
    static final Setting<URI> ISSUER =
            Setting.of(
                    "console.oidc.issuer",
                    UrlFormats.ISSUER,
                    "Issuer of the identity provider for logins, exactly as in its tokens."
                            + " Required for the console.");
    static final Setting<String> CLIENT_ID =
            Setting.of(
                    "console.oidc.client-id",
                    Formats.WORD,
                    "Client id of the console at the identity provider. Required for the"
                            + " console.");
    static final Setting<Password> CLIENT_SECRET =
            Setting.of(
                    "console.oidc.client-secret",
                    Password.FORMAT,
                    "Client secret of the console at the identity provider. Required for the"
                            + " console.");
    static final Setting<Path> CLIENT_SECRET_FILE =
            Setting.of(
                    "console.oidc.client-secret-file",
                    Password.FILE,
                    "File that contains `CONSOLE_OIDC_CLIENT_SECRET`.");
    static final Setting<Path> COOKIE_KEY_FILE =
            Setting.of(
                    "console.cookie-key-file",
                    Formats.FILE.hint(", with 32 bytes in base64: openssl rand -base64 32 > FILE"),
                    "File with the key that encrypts sessions: 32 bytes in base64. All replicas of the console need the same key. A second line can contain another key, which only decrypts. Required for the console.");
    static final Setting<Path> AUDIT_KEYS_FILE =
            Setting.of(
                    "console.audit-keys-file",
                    Formats.FILE.hint(", with the public keys in PEM"),
                    "File with the public audit keys, in PEM, for the page that verifies the"
                            + " audit log.");
    static final Setting<List<URI>> OTHER_CELLS =
            Setting.of(
                    "console.other-cells",
                    UrlFormats.OWN.list(),
                    "URLs of the consoles of other cells. A search links to the same search there.");

    private static final TlsFiles.Pair TLS = TlsFiles.Pair.of("console", "the console's port");

    static final List<Setting<?>> TABLE =
            Stream.of(
                            List.of(HOST, PORT),
                            TLS.settings(),
                            AdminSettings.OF_CONSOLE,
                            List.of(
                                    URL,
                                    ISSUER,
                                    CLIENT_ID,
                                    CLIENT_SECRET,
                                    CLIENT_SECRET_FILE,
                                    COOKIE_KEY_FILE,
                                    AUDIT_KEYS_FILE,
                                    OTHER_CELLS))
                    .<Setting<?>>flatMap(List::stream)
                    .toList();

    private static final List<Setting<?>> REQUIRED =
            List.of(URL, ISSUER, CLIENT_ID, COOKIE_KEY_FILE);

    /**
     * @throws InvalidSettings with all that is wrong
     */
    static ConsoleSettings from(Values values, Complaints complaints) {
        values.check(TABLE, complaints);
        values.check(List.of(BrokerSettings.URL), complaints);
        complaints.from(() -> values.require(REQUIRED));
        complaints.from(() -> TLS.from(values));
        complaints.from(() -> requireTwoPorts(values));
        complaints.from(() -> secret(values));
        complaints.from(() -> url(values));
        complaints.from(() -> requireConfidential(values));
        complaints.from(() -> DatabaseSettings.from(values));
        complaints.from(() -> ServerBounds.from(values));
        complaints.from(() -> RateLimitSettings.from(values));
        complaints.from(() -> SingleSettings.allowedHosts(values));
        complaints.from(() -> LogSettings.from(values));
        complaints.raise();
        return read(values);
    }

    private static ConsoleSettings read(Values values) {
        return new ConsoleSettings(
                values.get(HOST),
                values.get(PORT),
                TLS.from(values),
                AdminSettings.ofConsole(values),
                url(values),
                values.get(ISSUER),
                values.get(CLIENT_ID),
                secret(values),
                values.get(COOKIE_KEY_FILE),
                values.find(AUDIT_KEYS_FILE),
                values.find(OTHER_CELLS).orElse(List.of()),
                values.find(BrokerSettings.URL),
                ServerBounds.from(values),
                values.get(ServerSettings.DRAIN),
                DatabaseSettings.from(values),
                RateLimitSettings.from(values),
                SingleSettings.allowedHosts(values),
                LogSettings.from(values));
    }

    private static void requireTwoPorts(Values values) {
        AdminSettings.ofConsole(values)
                .ifPresent(admin ->
                        admin.requireApartFrom(
                                values.get(HOST),
                                values.get(PORT),
                                PORT.name(),
                                "CONSOLE_ADMIN_PORT"));
    }

    private static Password secret(Values values) {
        return Password.from(values, CLIENT_SECRET, CLIENT_SECRET_FILE)
                .orElseThrow(() ->
                        new InvalidSettings(
                                "CONSOLE_OIDC_CLIENT_SECRET is not set: set it or"
                                        + " CONSOLE_OIDC_CLIENT_SECRET_FILE"));
    }

    /**
     * Requires a URL without a path, because the console's pages have absolute paths and its
     * cookies are valid for the whole host.
     */
    private static URI url(Values values) {
        URI url = values.get(URL);
        if (!url.getRawPath().isEmpty()) {
            throw new InvalidSettings(
                    "CONSOLE_URL has the path '%s': give the console a host name of its own"
                            .formatted(url.getRawPath()));
        }
        return url;
    }

    private static void requireConfidential(Values values) {
        URI issuer = values.get(ISSUER);
        if (!HttpUrl.isConfidential(issuer)
                && !SingleSettings.allowedHosts(values).lists(issuer.getHost())) {
            throw new InvalidSettings(
                    ("CONSOLE_OIDC_ISSUER uses plain http to %s, which exposes secrets: use "
                                    + "https, or list the host in OUTBOUND_ALLOWED_HOSTS")
                            .formatted(issuer.getHost()));
        }
    }
}
