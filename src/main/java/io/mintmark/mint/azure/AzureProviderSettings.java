package io.mintmark.mint.azure;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.mint.Endpoint;
import io.mintmark.mint.Settings;
import io.mintmark.mint.TokenDestinations;

import java.util.Set;
import java.util.regex.Pattern;

/**
 * The settings of an access provider of type {@code azure}.
 *
 * @param tenantId the directory, by id or by a domain
 * @param endpoint where the directory gives tokens
 * @param audience of the broker's tokens for it
 */
record AzureProviderSettings(String tenantId, Endpoint endpoint, String audience) {
    private static final Set<String> NAMES = Set.of("tenant_id", "authority");
    private static final String WORLD = "https://login.microsoftonline.com";

    /** It becomes a part of the path. */
    private static final Pattern TENANT_ID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.-]{0,254}");

    static AzureProviderSettings of(JsonNode members, TokenDestinations destinations) {
        Settings settings = Settings.ofProvider(members, NAMES);
        String tenantId = settings.requiredText("tenant_id");
        if (!TENANT_ID.matcher(tenantId).matches()) {
            throw settings.unusable(
                    "tenant_id", "'%s' is no id and no domain of a directory".formatted(tenantId));
        }
        Endpoint authority = settings.endpoint("authority").orElseGet(() -> Endpoint.at(WORLD));
        return new AzureProviderSettings(
                tenantId,
                endpoint(authority, tenantId),
                audience(settings, authority, destinations));
    }

    private static Endpoint endpoint(Endpoint authority, String tenantId) {
        String base = authority.toString().replaceFirst("/+$", "");
        return Endpoint.at("%s/%s/oauth2/v2.0/token".formatted(base, tenantId));
    }

    private static String audience(
            Settings settings, Endpoint authority, TokenDestinations destinations) {
        try {
            return destinations.audience(authority, EntraCloud.at(authority.host()).audience());
        } catch (IllegalArgumentException e) {
            throw settings.unusable(
                    "authority",
                    "'%s' is neither a host of Entra's nor listed in OUTBOUND_ALLOWED_HOSTS, so it gets no token that Entra accepts"
                            .formatted(authority));
        }
    }
}
