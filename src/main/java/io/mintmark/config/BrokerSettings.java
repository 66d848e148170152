package io.mintmark.config;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;

/**
 * Who the broker is.
 *
 * @param url where clients reach it; no slash at the end
 * @param issuer what its own tokens call it; no slash at the end
 * @param signingKeysDir the PEM files of its signing keys
 */
public record BrokerSettings(URI url, URI issuer, Path signingKeysDir) {
    static final Setting<URI> URL =
            Setting.of("broker.url", WebAddress.OWN, "Where clients reach the broker. Required.");
    static final Setting<URI> ISSUER =
            Setting.of(
                    "broker.issuer",
                    WebAddress.OWN,
                    "Issuer of the broker's own tokens, if not `BROKER_URL`.");
    static final Setting<IdpType> IDP_TYPE =
            Setting.of(
                    "broker.idp.type",
                    Forms.oneOf(IdpType.class),
                    "built-in",
                    "Where the broker's own identity comes from. So far only `built-in` works.");
    static final Setting<Path> SIGNING_KEYS_DIR =
            Setting.of(
                    "broker.signing-keys-dir",
                    Forms.DIRECTORY.hint(
                            ", with at least one key: openssl genpkey -algorithm EC -pkeyopt"
                                    + " ec_paramgen_curve:P-256 -out DIRECTORY/2026-01-31.pem"),
                    "Directory of the broker's signing keys, `YYYY-MM-DD.pem`. Required.");

    static final List<Setting<?>> TABLE = List.of(URL, ISSUER, IDP_TYPE, SIGNING_KEYS_DIR);

    /** Known, so that they aren't taken for typing errors, and refused, because they do nothing. */
    static final List<Setting<?>> LATER =
            List.of(
                    later("issuer"),
                    later("token-endpoint"),
                    later("client-id"),
                    later("client-secret"),
                    later("client-auth"),
                    later("audience"),
                    later("scope"),
                    later("token-file"));

    static BrokerSettings from(Values values) {
        LATER.forEach(values::find);
        requireBuiltIn(values);
        URI url = values.get(URL);
        return new BrokerSettings(
                url, values.find(ISSUER).orElse(url), values.get(SIGNING_KEYS_DIR));
    }

    private static void requireBuiltIn(Values values) {
        IdpType type = values.get(IDP_TYPE);
        if (type != IdpType.BUILT_IN) {
            throw new InvalidSettings(
                    "%s %s doesn't work yet: remove it, and the broker will be its own issuer"
                            .formatted(IDP_TYPE.name(), Forms.word(type)));
        }
    }

    private static Setting<String> later(String word) {
        return Setting.of(
                "broker.idp." + word,
                Form.hidden(
                        "left out: external identity providers don't work yet",
                        text -> {
                            throw new IllegalArgumentException("not yet");
                        }),
                "Does not work yet.");
    }
}
