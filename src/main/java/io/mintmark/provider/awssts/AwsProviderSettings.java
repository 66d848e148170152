package io.mintmark.provider.awssts;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.provider.Endpoint;
import io.mintmark.provider.Settings;
import io.mintmark.provider.sts.StsEndpoint;
import io.mintmark.provider.sts.StsEndpoint.Use;

import software.amazon.awssdk.regions.PartitionMetadata;
import software.amazon.awssdk.regions.Region;

import java.util.Set;
import java.util.regex.Pattern;

/** The settings of an access provider of type {@code aws-sts}. */
record AwsProviderSettings(StsEndpoint sts, boolean sessionTags) {
    private static final Set<String> NAMES = Set.of("region", "endpoint", "auth", "session_tags");
    private static final Pattern REGION =
            Pattern.compile("[a-z]{2,16}(-[a-z]{1,16}){1,4}-\\d{1,4}");

    static AwsProviderSettings of(JsonNode members) {
        Settings settings = Settings.ofProvider(members, NAMES);
        String region = region(settings);
        return new AwsProviderSettings(
                new StsEndpoint(
                        settings.endpoint("endpoint").orElseGet(() -> regional(region)),
                        region,
                        use(settings)),
                settings.flag("session_tags", true));
    }

    private static Use use(Settings settings) {
        String auth = settings.text("auth").orElse("web-identity");
        return switch (auth) {
            case "web-identity" -> Use.WEB_IDENTITY;
            case "ambient" -> Use.AMBIENT;
            default -> throw settings.unusable("auth", "must be web-identity or ambient");
        };
    }

    /** Requires a valid region, because it becomes a part of the host's name. */
    private static String region(Settings settings) {
        String region = settings.requiredText("region");
        if (!REGION.matcher(region).matches()) {
            throw settings.unusable("region", "'%s' isn't an AWS region".formatted(region));
        }
        return region;
    }

    /**
     * Computed here rather than by the SDK, because it must be known before a token is made for it.
     */
    private static Endpoint regional(String region) {
        String suffix = PartitionMetadata.of(Region.of(region)).dnsSuffix();
        return Endpoint.at("https://sts.%s.%s".formatted(region, suffix));
    }
}
