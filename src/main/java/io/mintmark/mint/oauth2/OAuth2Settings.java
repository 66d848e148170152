package io.mintmark.mint.oauth2;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.mint.Endpoint;
import io.mintmark.mint.Settings;
import io.mintmark.mint.TokenDestinations;
import io.mintmark.outbound.TokenReply;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The settings of an access provider of type {@code oauth2} and of a key there.
 *
 * @param subjectAudience of the broker's token
 * @param tokenType what is asked for
 */
record OAuth2Settings(
        Endpoint endpoint,
        Client client,
        String subjectAudience,
        Optional<String> audience,
        Optional<String> resource,
        Optional<String> scope,
        String tokenType) {
    private static final String ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
    private static final Set<String> KEY_NAMES =
            Set.of("audience", "resource", "scope", "requested_token_type");
    private static final Set<String> NAMES =
            Set.of(
                    "token_endpoint",
                    "client_auth",
                    "client_id",
                    "client_secret",
                    "subject_audience");

    static OAuth2Settings of(JsonNode ofProvider, JsonNode ofKey, TokenDestinations destinations) {
        Settings settings = Settings.ofProvider(ofProvider, NAMES);
        settings.requiredText("token_endpoint");
        Endpoint endpoint = settings.endpoint("token_endpoint").orElseThrow();
        destinations.requireConfidential("token_endpoint", endpoint);
        Settings key = Settings.ofKey(ofKey, KEY_NAMES);
        return new OAuth2Settings(
                endpoint,
                Client.of(settings),
                destinations.audience(endpoint, settings, "subject_audience"),
                key.text("audience"),
                key.text("resource"),
                key.text("scope"),
                tokenType(key));
    }

    /**
     * RFC 8693 section 2.1: {@code audience} and {@code resource} say where the token is to be used
     * and may stand together, so that one alone would limit nothing.
     */
    List<String> targets() {
        return Stream.of(audience, resource).flatMap(Optional::stream).toList();
    }

    /** Anything else would be good for longer than was granted, or for nothing. */
    private static String tokenType(Settings key) {
        String type = key.text("requested_token_type").orElse(ACCESS_TOKEN);
        if (!TokenReply.TYPES.contains(type)) {
            throw key.unusable(
                    "requested_token_type",
                    "is '%s', and what may be asked for is %s"
                            .formatted(type, new TreeSet<>(TokenReply.TYPES)));
        }
        return type;
    }
}
