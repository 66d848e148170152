package io.mintmark.config;

import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * All that operators decide about a console, checked.
 *
 * @param port 0 takes a free one
 * @param url where browsers reach it; no slash and no path at the end
 * @param issuer the identity provider that people log in at, exactly as it calls itself
 * @param clientId which client of it the console is
 * @param cookieKeyFile 32 bytes in base64, which sessions are encrypted with
 * @param auditKeysFile the public keys that seal the audit log, PEM; without them nothing is proven
 */
public record ConsoleSettings(
        InetAddress host,
        int port,
        URI url,
        URI issuer,
        String clientId,
        Password clientSecret,
        Path cookieKeyFile,
        Optional<Path> auditKeysFile,
        ServerBounds bounds,
        Duration drain,
        DatabaseSettings database,
        RateLimitSettings rateLimit,
        OutboundSettings outbound,
        LogSettings log) {
    static final Setting<InetAddress> HOST =
            Setting.of(
                    "console.host",
                    Formats.BIND_ADDRESS,
                    "0.0.0.0",
                    "Address of the console's port.");
    static final Setting<Integer> PORT =
            Setting.of(
                    "console.port",
                    Formats.PORT,
                    "8082",
                    "The console's port; 0 takes a free one.");
    static final Setting<URI> URL =
            Setting.of(
                    "console.url",
                    UrlFormats.OWN,
                    "Where browsers reach the console, without a path. The identity provider must"
                            + " know `/oidc/redirect` and `/oidc/logged-out` there. Required by"
                            + " `console`.");
    static final Setting<URI> ISSUER =
            Setting.of(
                    "console.oidc.issuer",
                    UrlFormats.ISSUER,
                    "The identity provider that people log in at, exactly as it calls itself."
                            + " Required by `console`.");
    static final Setting<String> CLIENT_ID =
            Setting.of(
                    "console.oidc.client-id",
                    Formats.WORD,
                    "Which of its clients the console is. Required by `console`.");
    static final Setting<Password> CLIENT_SECRET =
            Setting.of(
                    "console.oidc.client-secret",
                    Password.FORMAT,
                    "The client's secret. Required by `console`.");
    static final Setting<Path> CLIENT_SECRET_FILE =
            Setting.of(
                    "console.oidc.client-secret-file",
                    Password.FILE,
                    "A file that holds it, instead of `CONSOLE_OIDC_CLIENT_SECRET`.");
    static final Setting<Path> COOKIE_KEY_FILE =
            Setting.of(
                    "console.cookie-key-file",
                    Formats.FILE.hint(", with 32 bytes in base64: openssl rand -base64 32 > FILE"),
                    "Key that sessions are encrypted with: 32 bytes in base64, the same on all"
                            + " replicas of the console. Required by `console`.");
    static final Setting<Path> AUDIT_KEYS_FILE =
            Setting.of(
                    "console.audit-keys-file",
                    Formats.FILE.hint(", with the public keys in PEM"),
                    "Public keys that seal the audit log, PEM, for the page that proves it.");

    static final List<Setting<?>> TABLE =
            List.of(
                    HOST,
                    PORT,
                    URL,
                    ISSUER,
                    CLIENT_ID,
                    CLIENT_SECRET,
                    CLIENT_SECRET_FILE,
                    COOKIE_KEY_FILE,
                    AUDIT_KEYS_FILE);

    private static final List<Setting<?>> REQUIRED =
            List.of(URL, ISSUER, CLIENT_ID, COOKIE_KEY_FILE);

    /**
     * @throws InvalidSettings with all that is wrong
     */
    static ConsoleSettings from(Values values, Complaints complaints) {
        values.check(TABLE, complaints);
        complaints.from(() -> values.require(REQUIRED));
        complaints.from(() -> secret(values));
        complaints.from(() -> url(values));
        complaints.from(() -> requireConfidential(values));
        complaints.from(() -> DatabaseSettings.from(values));
        complaints.from(() -> ServerBounds.from(values));
        complaints.from(() -> RateLimitSettings.from(values));
        complaints.from(() -> OutboundSettings.from(values));
        complaints.from(() -> LogSettings.from(values));
        complaints.raise();
        return read(values);
    }

    private static ConsoleSettings read(Values values) {
        return new ConsoleSettings(
                values.get(HOST),
                values.get(PORT),
                url(values),
                values.get(ISSUER),
                values.get(CLIENT_ID),
                secret(values),
                values.get(COOKIE_KEY_FILE),
                values.find(AUDIT_KEYS_FILE),
                ServerBounds.from(values),
                values.get(ServerSettings.DRAIN),
                DatabaseSettings.from(values),
                RateLimitSettings.from(values),
                OutboundSettings.from(values),
                LogSettings.from(values));
    }

    private static Password secret(Values values) {
        return Password.from(values, CLIENT_SECRET, CLIENT_SECRET_FILE)
                .orElseThrow(() ->
                        new InvalidSettings(
                                "CONSOLE_OIDC_CLIENT_SECRET is not set: set it or"
                                        + " CONSOLE_OIDC_CLIENT_SECRET_FILE"));
    }

    /** Its pages have absolute paths, and its cookies are the whole host's. */
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
                && !OutboundSettings.from(values).allowedHosts().lists(issuer.getHost())) {
            throw new InvalidSettings(
                    "CONSOLE_OIDC_ISSUER is plain http to %s, so secrets could be read on the way: use https, or list the host in OUTBOUND_ALLOWED_HOSTS"
                            .formatted(issuer.getHost()));
        }
    }
}
