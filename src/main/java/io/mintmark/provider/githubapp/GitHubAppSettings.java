package io.mintmark.provider.githubapp;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.provider.Endpoint;
import io.mintmark.provider.KeyReference;
import io.mintmark.provider.Settings;
import io.mintmark.provider.TokenDestinations;

import java.util.Set;
import java.util.regex.Pattern;

/**
 * The settings of an access provider of type {@code github-app} and of a key there.
 *
 * @param clientId of the app; its numeric id works too
 * @param privateKey where the app's private key is
 */
record GitHubAppSettings(
        String clientId,
        KeyReference privateKey,
        String installationId,
        Endpoint api,
        Access access) {
    private static final Endpoint GITHUB = Endpoint.at("https://api.github.com");
    private static final Pattern INSTALLATION = Pattern.compile("[0-9]{1,20}");
    private static final Set<String> NAMES =
            Set.of("client_id", "private_key", "installation_id", "api_url");
    private static final Set<String> KEY_NAMES =
            Set.of("repositories", "repository_ids", "all_repositories", "permissions");

    static GitHubAppSettings of(
            JsonNode ofProvider, JsonNode ofKey, TokenDestinations destinations) {
        Settings provider = Settings.ofProvider(ofProvider, NAMES);
        Endpoint api = provider.endpoint("api_url").orElse(GITHUB);
        destinations.requireConfidential("api_url", api);
        String installation = provider.requiredText("installation_id");
        if (!INSTALLATION.matcher(installation).matches()) {
            throw provider.unusable("installation_id", "must be 1 to 20 digits");
        }
        return new GitHubAppSettings(
                provider.requiredText("client_id"),
                provider.keyReference("private_key")
                        .orElseThrow(() -> provider.unusable("private_key", "is missing")),
                installation,
                api,
                Access.of(Settings.ofKey(ofKey, KEY_NAMES)));
    }
}
