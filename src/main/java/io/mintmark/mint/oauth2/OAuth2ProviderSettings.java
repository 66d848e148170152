package io.mintmark.mint.oauth2;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.mint.Endpoint;
import io.mintmark.mint.Settings;
import io.mintmark.mint.TokenDestinations;

import java.util.Set;

/**
 * The settings of an access provider of type {@code oauth2}.
 *
 * @param audience of the broker's token
 */
record OAuth2ProviderSettings(Endpoint endpoint, Client client, String audience) {
    private static final Set<String> NAMES =
            Set.of(
                    "token_endpoint",
                    "client_auth",
                    "client_id",
                    "client_secret",
                    "subject_audience");

    static OAuth2ProviderSettings of(JsonNode members, TokenDestinations destinations) {
        Settings settings = Settings.ofProvider(members, NAMES);
        settings.requiredText("token_endpoint");
        Endpoint endpoint = settings.endpoint("token_endpoint").orElseThrow();
        destinations.requireConfidential("token_endpoint", endpoint);
        return new OAuth2ProviderSettings(
                endpoint,
                Client.of(settings),
                destinations.audience(endpoint, settings, "subject_audience"));
    }
}
