package io.mintmark.base.config;

import io.mintmark.base.config.IdentitySettings.BuiltIn;
import io.mintmark.base.config.IdentitySettings.ClientCredentials;
import io.mintmark.base.config.IdentitySettings.TokenFile;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The broker's names.
 *
 * @param url where clients reach it; no trailing slash
 * @param consoleUrl where people reach the console; no trailing slash
 * @param issuer the issuer of its own tokens; no trailing slash; present if there are signing keys
 * @param signingKeysDir the PEM files of its signing keys
 * @param signingKeys its keys in a PKCS#11 token; there are keys of either kind if its identity
 *     needs them
 * @param errorPage the page to which errors link
 */
public record BrokerSettings(
        Optional<URI> url,
        Optional<URI> consoleUrl,
        Optional<URI> issuer,
        Optional<Path> signingKeysDir,
        List<Pkcs11Uri> signingKeys,
        IdentitySettings identity,
        Optional<URI> errorPage) {
    public BrokerSettings {
        signingKeys = List.copyOf(signingKeys);
    }

    static final Setting<URI> URL =
            Setting.of(
                    "broker.url",
                    UrlFormats.OWN,
                    "URL at which clients reach the broker. Required if the broker has"
                            + " signing keys. The console sends decisions on access requests to this"
                            + " URL.");
    static final Setting<URI> CONSOLE_URL =
            Setting.of(
                    "broker.console-url",
                    UrlFormats.OWN,
                    "URL at which browsers reach the console. If set, notices link to the"
                            + " console's page about the request.");
    static final Setting<URI> ISSUER =
            Setting.of(
                    "broker.issuer",
                    UrlFormats.OWN,
                    "Issuer of the broker's own tokens. Default: `BROKER_URL`. If you change"
                            + " `BROKER_URL`, set the old URL here, because providers trust it.");
    static final Setting<Path> SIGNING_KEYS_DIR =
            Setting.of(
                    "broker.signing-keys-dir",
                    Formats.DIRECTORY.hint(
                            ", with at least one key: openssl genpkey -algorithm EC -pkeyopt"
                                    + " ec_paramgen_curve:P-256 -out DIRECTORY/2026-01-31.pem"),
                    "Directory of the broker's signing keys, in files `YYYY-MM-DD.pem`. This"
                            + " setting or `BROKER_SIGNING_KEYS` is required if `BROKER_IDP_TYPE` is"
                            + " `built-in`, if the broker authenticates with `private_key_jwt`, or if"
                            + " an access provider has the type `jwt`.");
    static final Setting<List<Pkcs11Uri>> SIGNING_KEYS =
            Setting.of(
                    "broker.signing-keys",
                    Pkcs11Settings.URI.list(),
                    "The broker's signing keys as PKCS#11 URIs. The last key signs. The"
                            + " broker publishes the other keys and the keys in"
                            + " `BROKER_SIGNING_KEYS_DIR`.");

    static final Setting<URI> ERROR_PAGE =
            Setting.of(
                    "broker.error-page",
                    UrlFormats.OWN,
                    "URL at which you publish `docs/errors.md`. If set, each error response"
                            + " links to the row about its cause, in `doc_url` (at `/oauth2/token`, in"
                            + " `error_uri`).");

    static final List<Setting<?>> TABLE =
            Stream.concat(
                            Stream.of(
                                    URL,
                                    CONSOLE_URL,
                                    ISSUER,
                                    ERROR_PAGE,
                                    SIGNING_KEYS_DIR,
                                    SIGNING_KEYS),
                            IdentityTable.TABLE.stream())
                    .toList();

    /**
     * The name that distinguishes this broker from others at a shared server: its issuer, or empty
     * if it has none.
     */
    public String name() {
        return issuer.map(URI::toString).orElse("");
    }

    static BrokerSettings from(Values values) {
        IdentitySettings identity = IdentityTable.from(values);
        Pkcs11Settings.require(values, SIGNING_KEYS);
        Optional<List<Pkcs11Uri>> held = values.find(SIGNING_KEYS);
        if (signs(identity)) {
            values.require(held.isPresent() ? List.of(URL) : List.of(SIGNING_KEYS_DIR, URL));
        }
        Optional<Path> directory = values.find(SIGNING_KEYS_DIR);
        boolean hasKeys = held.isPresent() || directory.isPresent();
        Optional<URI> url = hasKeys ? Optional.of(values.get(URL)) : values.find(URL);
        return new BrokerSettings(
                url,
                values.find(CONSOLE_URL),
                values.find(ISSUER).or(() -> url),
                directory,
                held.orElse(List.of()),
                identity,
                values.find(ERROR_PAGE));
    }

    /** Whether the broker has keys of its own. */
    public boolean hasSigningKeys() {
        return signingKeysDir.isPresent() || !signingKeys.isEmpty();
    }

    private static boolean signs(IdentitySettings identity) {
        return switch (identity) {
            case BuiltIn _ -> true;
            case ClientCredentials client -> client.auth() == ClientAuth.PRIVATE_KEY_JWT;
            case TokenFile _ -> false;
        };
    }
}
