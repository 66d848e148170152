package io.mintmark.provider.oauth2;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.Settings;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.identity.TokenOrder;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The settings of an access provider of type {@code oauth2} and of a key there.
 *
 * @param subjectAudience of the broker's token
 * @param subjectLifetime of the broker's token; empty for the usual one
 * @param targets what the key aims at
 * @param revocation where tokens are revoked (RFC 7009), if the server can
 */
record OAuth2Settings(
        Endpoint endpoint,
        Client client,
        String subjectAudience,
        Optional<Duration> subjectLifetime,
        TokenRequest request,
        List<String> targets,
        Optional<Endpoint> revocation) {
    private static final Duration SHORTEST_SUBJECT = Duration.ofMinutes(1);
    private static final Set<String> KEY_NAMES =
            Set.of("audience", "resource", "scope", "requested_token_type", "parameters");
    private static final Set<String> NAMES =
            Set.of(
                    "token_endpoint",
                    "client_auth",
                    "client_id",
                    "client_secret",
                    "subject_audience",
                    "subject_lifetime",
                    "subject_parameter",
                    "revocation_endpoint",
                    "grant",
                    "body",
                    "parameters",
                    "target_parameters");

    static OAuth2Settings of(JsonNode ofProvider, JsonNode ofKey, TokenDestinations destinations) {
        Settings settings = Settings.ofProvider(ofProvider, NAMES);
        Endpoint endpoint = settings.requiredEndpoint("token_endpoint");
        destinations.requireConfidential("token_endpoint", endpoint);
        Optional<Endpoint> revocation = settings.endpoint("revocation_endpoint");
        revocation.ifPresent(at -> destinations.requireConfidential("revocation_endpoint", at));
        TokenRequest request = TokenRequest.of(settings, Settings.ofKey(ofKey, KEY_NAMES));
        return new OAuth2Settings(
                endpoint,
                Client.of(settings),
                destinations.audience(endpoint, settings, "subject_audience"),
                settings.seconds("subject_lifetime", SHORTEST_SUBJECT, TokenOrder.LONGEST),
                request,
                request.targets(),
                revocation);
    }

    /**
     * The order for the broker's token. A server with {@code subject_lifetime} derives the lifetime
     * of its token from the broker's, so the broker's must not outlive the grant.
     */
    TokenOrder subject(MintOrder order) {
        TokenOrder usual = order.token(subjectAudience, Map.of());
        return subjectLifetime
                .map(time -> usual.living(time).livingAtMost(order.duration()))
                .orElse(usual);
    }
}
