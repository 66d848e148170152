package io.mintmark.provider.gcp;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.provider.Endpoint;
import io.mintmark.provider.Settings;
import io.mintmark.provider.TokenDestinations;

import java.util.Set;
import java.util.regex.Pattern;

/**
 * The settings of an access provider of type {@code gcp}.
 *
 * @param identityProvider the full name of the workload identity provider, starting with {@code
 *     //}; it is the audience of the broker's token, which Google accepts by default
 * @param sts base URL of the token service
 * @param iam base URL of the service account credentials service
 */
record GoogleProviderSettings(
        String projectId, String identityProvider, Endpoint sts, Endpoint iam) {
    private static final String PROVIDER = "workload_identity_provider";
    private static final Set<String> NAMES =
            Set.of("project_id", PROVIDER, "sts_endpoint", "iam_endpoint");
    private static final Pattern NAME =
            Pattern.compile(
                    "//iam\\.googleapis\\.com/projects/[0-9]+/locations/global"
                            + "/workloadIdentityPools/[a-z0-9-]+/providers/[a-z0-9-]+");

    /**
     * Reads them. Both endpoints are checked here, before the first call, because the token of the
     * first is sent to the second and is as valuable as the broker's token.
     */
    static GoogleProviderSettings of(JsonNode members, TokenDestinations destinations) {
        Settings settings = Settings.ofProvider(members, NAMES);
        String identityProvider = identityProvider(settings);
        return new GoogleProviderSettings(
                settings.requiredText("project_id"),
                identityProvider,
                endpoint(settings, "sts", identityProvider, destinations),
                endpoint(settings, "iamcredentials", identityProvider, destinations));
    }

    private static String identityProvider(Settings settings) {
        String name = settings.requiredText(PROVIDER);
        if (!NAME.matcher(name).matches()) {
            throw settings.unusable(
                    PROVIDER,
                    "'%s' isn't the full name of a workload identity provider, //iam.googleapis.com/projects/NUMBER/…"
                            .formatted(name));
        }
        return name;
    }

    private static Endpoint endpoint(
            Settings settings,
            String service,
            String identityProvider,
            TokenDestinations destinations) {
        String setting = service.equals("sts") ? "sts_endpoint" : "iam_endpoint";
        Endpoint endpoint =
                settings.endpoint(setting)
                        .orElseGet(() -> Endpoint.at("https://" + service + ".googleapis.com"));
        destinations.audience(endpoint, settings, setting, identityProvider);
        return endpoint;
    }
}
