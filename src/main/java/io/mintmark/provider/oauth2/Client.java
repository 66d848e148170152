package io.mintmark.provider.oauth2;

import io.mintmark.provider.Settings;

import java.util.Optional;

/**
 * The client's identity at an authorization server, and how the broker authenticates as that
 * client.
 */
sealed interface Client {

    /**
     * No authentication: only the subject token counts.
     *
     * @param id if the server requires one
     */
    record Open(Optional<String> id) implements Client {}

    /**
     * Authentication with a secret ({@code client_secret_basic}, RFC 6749 section 2.3.1).
     *
     * @param secretFile the name of the file that contains the secret
     */
    record WithSecret(String id, String secretFile) implements Client {}

    /**
     * Authentication with an assertion that the broker's key signed ({@code private_key_jwt}, RFC
     * 7523).
     */
    record WithKey(String id) implements Client {}

    /**
     * The client of a provider's settings. Without {@code client_auth}, a secret is used if there
     * is one, and an id alone is sent as a parameter.
     */
    static Client of(Settings settings) {
        Optional<String> id = settings.text("client_id");
        Optional<String> secret = settings.secretFile("client_secret");
        String usual = secret.isPresent() ? "client_secret_basic" : "none";
        String auth = settings.text("client_auth").orElse(usual);
        return switch (auth) {
            case "none" -> {
                refuse(settings, auth, secret);
                yield new Open(id);
            }
            case "client_secret_basic" ->
                    new WithSecret(
                            id.orElseThrow(() -> missing(settings, "client_id", auth)),
                            secret.orElseThrow(() -> missing(settings, "client_secret", auth)));
            case "private_key_jwt" -> {
                refuse(settings, auth, secret);
                yield new WithKey(id.orElseThrow(() -> missing(settings, "client_id", auth)));
            }
            default ->
                    throw settings.unusable(
                            "client_auth",
                            ("must be none, client_secret_basic or private_key_jwt," + " not '%s'")
                                    .formatted(auth));
        };
    }

    private static RuntimeException missing(Settings settings, String name, String auth) {
        return settings.unusable(name, "is missing, and client_auth '%s' needs it".formatted(auth));
    }

    private static void refuse(Settings settings, String auth, Optional<String> secret) {
        if (secret.isPresent()) {
            throw settings.unusable(
                    "client_secret", "is set, but client_auth '%s' doesn't use it".formatted(auth));
        }
    }
}
