package io.mintmark.base.config;

import io.mintmark.base.config.IdentitySettings.BuiltIn;
import io.mintmark.base.config.IdentitySettings.ClientCredentials;
import io.mintmark.base.config.IdentitySettings.TokenFile;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The settings {@code BROKER_IDP_…}. One that the chosen type doesn't use is refused. */
final class IdentityTable {
    /** The source of the broker's own identity. */
    enum IdpType {
        /** The broker is an issuer itself. */
        BUILT_IN,
        /** A token from an identity provider, for a client id and secret. */
        CLIENT_CREDENTIALS,
        /** A token that the platform puts into a file. */
        TOKEN_FILE
    }

    static final Setting<IdpType> TYPE =
            Setting.of(
                    "broker.idp.type",
                    Formats.oneOf(IdpType.class),
                    "built-in",
                    "How the broker authenticates to providers: `built-in`,"
                            + " `client-credentials` or `token-file`.");
    static final Setting<URI> ISSUER =
            Setting.of(
                    "broker.idp.issuer",
                    UrlFormats.ISSUER,
                    "`client-credentials`: issuer of the identity provider, exactly as in"
                            + " its tokens. The issuer's discovery document names the token endpoint.");
    static final Setting<URI> TOKEN_ENDPOINT =
            Setting.of(
                    "broker.idp.token-endpoint",
                    UrlFormats.ENDPOINT,
                    "`client-credentials`: URL of the token endpoint. If set, it overrides"
                            + " the discovery document.");
    static final Setting<String> CLIENT_ID =
            Setting.of(
                    "broker.idp.client-id",
                    Formats.WORD,
                    "`client-credentials`: client id of the broker. Required for this type.");
    static final Setting<Password> CLIENT_SECRET =
            Setting.of(
                    "broker.idp.client-secret",
                    Password.FORMAT,
                    "`client-credentials`: client secret. Required for this type, unless the"
                            + " broker authenticates by `private_key_jwt`.");
    static final Setting<Path> CLIENT_SECRET_FILE =
            Setting.of(
                    "broker.idp.client-secret-file",
                    Password.FILE,
                    "`client-credentials`: file that contains `BROKER_IDP_CLIENT_SECRET`.");
    static final Setting<ClientAuth> CLIENT_AUTH =
            Setting.of(
                    "broker.idp.client-auth",
                    ClientAuth.FORMAT,
                    "client_secret_basic",
                    "`client-credentials`: how the broker authenticates to the identity"
                            + " provider: `client_secret_basic`, `client_secret_post` or"
                            + " `private_key_jwt`.");
    static final Setting<String> AUDIENCE =
            Setting.of(
                    "broker.idp.audience",
                    Formats.WORD,
                    "`client-credentials`: parameter `audience` of the token request, if the"
                            + " identity provider requires this parameter.");
    static final Setting<String> SCOPE =
            Setting.of(
                    "broker.idp.scope",
                    Formats.WORDS,
                    "`client-credentials`: requested scopes, separated by spaces.");
    static final Setting<Path> TOKEN_FILE =
            Setting.of(
                    "broker.idp.token-file",
                    Formats.FILE,
                    "`token-file`: file that contains the token. Required for this type.");

    private static final List<Setting<?>> OF_CLIENT =
            List.of(
                    ISSUER,
                    TOKEN_ENDPOINT,
                    CLIENT_ID,
                    CLIENT_SECRET,
                    CLIENT_SECRET_FILE,
                    CLIENT_AUTH,
                    AUDIENCE,
                    SCOPE);
    private static final List<Setting<?>> OF_FILE = List.of(TOKEN_FILE);

    static final List<Setting<?>> TABLE =
            Stream.of(List.of(TYPE), OF_CLIENT, OF_FILE).<Setting<?>>flatMap(List::stream).toList();

    private IdentityTable() {}

    static IdentitySettings from(Values values) {
        IdpType type = values.get(TYPE);
        refuseOthers(values, type);
        return switch (type) {
            case BUILT_IN -> new BuiltIn();
            case CLIENT_CREDENTIALS ->
                    new ClientCredentials(
                            values.find(ISSUER),
                            values.find(TOKEN_ENDPOINT),
                            values.get(CLIENT_ID),
                            values.get(CLIENT_AUTH),
                            Password.from(values, CLIENT_SECRET, CLIENT_SECRET_FILE),
                            values.find(AUDIENCE),
                            values.find(SCOPE));
            case TOKEN_FILE -> new TokenFile(values.get(TOKEN_FILE));
        };
    }

    /**
     * Rejects settings of other types, because a setting without effect could be mistaken for a
     * protection.
     */
    private static void refuseOthers(Values values, IdpType type) {
        Complaints complaints = new Complaints();
        for (Setting<?> setting : idle(type)) {
            values.written(setting)
                    .ifPresent(given ->
                            complaints.add(
                                    "%s is set, but %s %s doesn't use it: remove it, or choose the type that uses it"
                                            .formatted(
                                                    given.name(),
                                                    TYPE.name(),
                                                    Formats.word(type))));
        }
        complaints.raise();
    }

    /** The settings that are ignored; without a type, all but the type itself. */
    static List<Setting<?>> idleWith(Values values) {
        try {
            return idle(values.get(TYPE));
        } catch (InvalidSettings _) {
            return TABLE.stream().filter(setting -> !setting.equals(TYPE)).toList();
        }
    }

    private static List<Setting<?>> idle(IdpType type) {
        return switch (type) {
            case BUILT_IN -> Stream.concat(OF_CLIENT.stream(), OF_FILE.stream()).toList();
            case CLIENT_CREDENTIALS -> OF_FILE;
            case TOKEN_FILE -> OF_CLIENT;
        };
    }
}
