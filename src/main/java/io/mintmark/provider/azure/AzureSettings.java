package io.mintmark.provider.azure;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.provider.Endpoint;
import io.mintmark.provider.Settings;
import io.mintmark.provider.TokenDestinations;

import java.util.Set;
import java.util.regex.Pattern;

/**
 * The settings of an access provider of type {@code azure} and of a key there.
 *
 * @param tenantId the directory, by id or by a domain
 * @param endpoint where the directory gives tokens
 * @param audience of the broker's tokens for it
 * @param clientId the application or managed identity
 */
record AzureSettings(
        String tenantId, Endpoint endpoint, String audience, String clientId, String scope) {
    private static final Set<String> KEY_NAMES = Set.of("client_id", "scope");
    private static final Set<String> NAMES = Set.of("tenant_id", "authority");
    private static final String WORLD = "https://login.microsoftonline.com";

    /** The form of a directory's id, which becomes a part of the path. */
    private static final Pattern TENANT_ID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.-]{0,254}");

    /**
     * Matches trailing slashes. It is tried only where a row of slashes begins, and nowhere inside
     * one.
     */
    private static final Pattern TRAILING_SLASHES = Pattern.compile("(?<!/)/++$");

    static AzureSettings of(JsonNode ofProvider, JsonNode ofKey, TokenDestinations destinations) {
        Settings settings = Settings.ofProvider(ofProvider, NAMES);
        String tenantId = settings.requiredText("tenant_id");
        if (!TENANT_ID.matcher(tenantId).matches()) {
            throw settings.unusable(
                    "tenant_id",
                    "'%s' is neither the id nor a domain of a directory".formatted(tenantId));
        }
        Endpoint authority = settings.endpoint("authority").orElseGet(() -> Endpoint.at(WORLD));
        Settings key = Settings.ofKey(ofKey, KEY_NAMES);
        return new AzureSettings(
                tenantId,
                endpoint(authority, tenantId),
                destinations.audience(
                        authority,
                        settings,
                        "authority",
                        EntraCloud.at(authority.host()).audience()),
                key.requiredText("client_id"),
                key.requiredText("scope"));
    }

    private static Endpoint endpoint(Endpoint authority, String tenantId) {
        String base = TRAILING_SLASHES.matcher(authority.toString()).replaceFirst("");
        return Endpoint.at("%s/%s/oauth2/v2.0/token".formatted(base, tenantId));
    }

    /**
     * The clouds that Entra runs in, each with accounts of its own. Their hosts:
     * learn.microsoft.com, "National clouds"; the audience that each wants for federated
     * credentials: "Configure an application to trust a managed identity".
     */
    private enum EntraCloud {
        /** The world, and what an operator put in its place. */
        GLOBAL("api://AzureADTokenExchange"),
        US_GOVERNMENT("api://AzureADTokenExchangeUSGov"),
        CHINA("api://AzureADTokenExchangeChina");

        private final String audience;

        EntraCloud(String audience) {
            this.audience = audience;
        }

        /** The cloud at a host in lower case. */
        static EntraCloud at(String host) {
            return switch (host) {
                case "login.microsoftonline.us" -> US_GOVERNMENT;
                case "login.partner.microsoftonline.cn", "login.chinacloudapi.cn" -> CHINA;
                default -> GLOBAL;
            };
        }

        /** The audience that the broker's token must have. */
        String audience() {
            return audience;
        }
    }
}
