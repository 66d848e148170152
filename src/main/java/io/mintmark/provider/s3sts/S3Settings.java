package io.mintmark.provider.s3sts;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.provider.Endpoint;
import io.mintmark.provider.Settings;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.identity.ReservedClaims;
import io.mintmark.provider.s3sts.SessionPolicy.Denial;
import io.mintmark.provider.sts.StsEndpoint;
import io.mintmark.provider.sts.StsEndpoint.Use;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The settings of an access provider of type {@code s3-sts} and of a key there.
 *
 * @param url of the endpoint as it was written, for clients
 * @param claims what the token says beside its usual claims
 * @param policies the session's, by how it denies all but storage
 */
record S3Settings(
        String url,
        StsEndpoint sts,
        String audience,
        Map<String, Object> claims,
        Optional<String> roleArn,
        Map<Denial, String> policies) {
    private static final Set<String> KEY_NAMES = Set.of("role_arn", "policy");
    private static final Set<String> NAMES =
            Set.of("endpoint", "region", "audience", "policy_claim");

    /** The default for servers without regions. */
    private static final String REGION = "us-east-1";

    static S3Settings of(JsonNode ofProvider, JsonNode ofKey, TokenDestinations destinations) {
        Settings settings = Settings.ofProvider(ofProvider, NAMES);
        Endpoint endpoint = settings.requiredEndpoint("endpoint");
        destinations.requireConfidential("endpoint", endpoint);
        Settings key = Settings.ofKey(ofKey, KEY_NAMES);
        return new S3Settings(
                settings.requiredText("endpoint"),
                new StsEndpoint(endpoint, settings.text("region").orElse(REGION), Use.STORAGE),
                destinations.audience(endpoint, settings, "audience"),
                policyClaim(settings),
                key.text("role_arn"),
                SessionPolicy.of(key));
    }

    private static Map<String, Object> policyClaim(Settings settings) {
        return settings.object("policy_claim")
                .map(claim -> policyClaim(settings, claim))
                .orElseGet(Map::of);
    }

    private static Map<String, Object> policyClaim(Settings settings, JsonNode claim) {
        Settings parts = settings.within("policy_claim", claim, Set.of("name", "value"));
        String name = parts.requiredText("name");
        if (ReservedClaims.includes(name)) {
            throw settings.unusable(
                    "policy_claim", "names the reserved claim '%s'".formatted(name));
        }
        List<String> several = claim.path("value").isArray() ? parts.texts("value") : List.of();
        return Map.of(name, several.isEmpty() ? parts.requiredText("value") : several);
    }
}
