package io.mintmark.provider.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.provider.Endpoint;
import io.mintmark.provider.Settings;
import io.mintmark.provider.TokenDestinations;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The settings of an access provider of type {@code kubernetes} and of a key there.
 *
 * @param caCertificate PEM of the API server's authorities; empty for the public ones
 * @param login how the broker proves itself
 * @param audiences of the token; the API server's own if empty
 */
record KubernetesSettings(
        Endpoint server,
        Optional<String> caCertificate,
        Login login,
        String namespace,
        String account,
        List<String> audiences,
        Optional<String> boundSecret) {
    private static final Pattern ACCOUNT =
            Pattern.compile("([a-z0-9][a-z0-9-]{0,62})/([a-z0-9][a-z0-9.-]{0,252})");
    private static final Pattern SECRET = Pattern.compile("[a-z0-9][a-z0-9.-]{0,252}");
    private static final Set<String> NAMES =
            Set.of("server", "ca_certificate", "auth", "token", "audience");
    private static final Set<String> KEY_NAMES =
            Set.of("service_account", "audiences", "bound_secret");

    /** The broker's authentication at the API server. */
    sealed interface Login {

        /**
         * The broker sends a token of its own, which the API server trusts (structured
         * authentication).
         *
         * @param audience of that token
         */
        record ByBroker(String audience) implements Login {}

        /** The broker sends a token from a file. */
        record ByFile(String file) implements Login {}
    }

    static KubernetesSettings of(
            JsonNode ofProvider, JsonNode ofKey, TokenDestinations destinations) {
        Settings provider = Settings.ofProvider(ofProvider, NAMES);
        Endpoint server = provider.requiredEndpoint("server");
        destinations.requireConfidential("server", server);
        Settings key = Settings.ofKey(ofKey, KEY_NAMES);
        var account = ACCOUNT.matcher(key.requiredText("service_account"));
        if (!account.matches()) {
            throw key.unusable("service_account", "must have the form namespace/name");
        }
        Optional<String> secret = key.text("bound_secret");
        if (secret.filter(name -> !SECRET.matcher(name).matches()).isPresent()) {
            throw key.unusable("bound_secret", "must be the name of a Kubernetes Secret");
        }
        return new KubernetesSettings(
                server,
                provider.text("ca_certificate"),
                login(provider, server, destinations),
                account.group(1),
                account.group(2),
                key.texts("audiences"),
                secret);
    }

    private static Login login(Settings provider, Endpoint server, TokenDestinations destinations) {
        Optional<String> file = provider.secretFile("token");
        if (provider.oneOf("auth", "broker", "token").equals("broker")) {
            if (file.isPresent()) {
                throw provider.unusable("token", "is set, but auth 'broker' doesn't use it");
            }
            return new Login.ByBroker(destinations.audience(server, provider, "audience"));
        }
        return new Login.ByFile(
                file.orElseThrow(
                        () -> provider.unusable("token", "is missing, and auth 'token' needs it")));
    }

    List<String> targets() {
        List<String> targets = new ArrayList<>();
        targets.add(namespace + "/" + account);
        targets.addAll(audiences);
        return targets;
    }

    /** The subject of the account's tokens. */
    String subject() {
        return "system:serviceaccount:%s:%s".formatted(namespace, account);
    }

    String address() {
        return server.below(
                "/api/v1/namespaces/%s/serviceaccounts/%s/token".formatted(namespace, account));
    }
}
