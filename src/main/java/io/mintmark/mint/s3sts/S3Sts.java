package io.mintmark.mint.s3sts;

import com.fasterxml.jackson.databind.JsonNode;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.mintmark.identity.BrokerIdentity;
import io.mintmark.identity.TokenOrder;
import io.mintmark.mint.AccessProvider;
import io.mintmark.mint.BrokerTokens;
import io.mintmark.mint.MintOrder;
import io.mintmark.mint.MintResult;
import io.mintmark.mint.Settings;
import io.mintmark.mint.TokenDestinations;
import io.mintmark.mint.UnusableSettingsException;
import io.mintmark.mint.s3sts.SessionPolicy.Denial;
import io.mintmark.mint.sts.RoleSession;
import io.mintmark.mint.sts.StsCaller;
import io.mintmark.mint.sts.StsEndpoint;

import software.amazon.awssdk.services.sts.model.AssumeRoleWithWebIdentityRequest;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Credentials of S3-compatible storage that speaks AWS's AssumeRoleWithWebIdentity, such as MinIO
 * and Ceph. Its token is good for that server alone.
 */
public final class S3Sts implements AccessProvider {
    private static final int SHORTEST = 900;
    private static final int LONGEST = 604_800;
    private static final int MOST_SERVERS = 1000;
    private static final Duration REMEMBERED = Duration.ofHours(1);
    private static final Set<String> KEY_SETTINGS = Set.of("role_arn", "policy");

    private final BrokerTokens tokens;
    private final TokenDestinations destinations;
    private final StsCaller sts;

    /** Of the servers that have refused another. It is asked for anew when forgotten. */
    private final Cache<StsEndpoint, Denial> denials =
            Caffeine.newBuilder().maximumSize(MOST_SERVERS).expireAfterWrite(REMEMBERED).build();

    public S3Sts(BrokerIdentity identity, TokenDestinations destinations, StsCaller sts) {
        this.tokens = new BrokerTokens(identity, destinations);
        this.destinations = destinations;
        this.sts = sts;
    }

    @Override
    public String type() {
        return "s3-sts";
    }

    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of(
                "MINIO_ACCESS_KEY", "AccessKeyId",
                "MINIO_SECRET_KEY", "SecretAccessKey",
                "MINIO_SESSION_TOKEN", "SessionToken",
                "MINIO_ENDPOINT", "Endpoint");
    }

    @Override
    public List<String> targets(JsonNode keySettings) {
        return Settings.ofKey(keySettings, KEY_SETTINGS).text("role_arn").stream().toList();
    }

    @Override
    public boolean usesSharedIdentity(JsonNode providerSettings) {
        return tokens.shared();
    }

    @Override
    public MintResult mint(MintOrder order) {
        S3ProviderSettings provider =
                S3ProviderSettings.of(order.access().settings(), destinations);
        Denial known = denials.getIfPresent(provider.sts());
        MintResult result =
                mint(order, provider, Objects.requireNonNullElse(known, Denial.ALL_BUT_S3));
        if (known == null && SessionPolicy.isForeign(result)) {
            denials.put(provider.sts(), Denial.ADMINISTRATION);
            return mint(order, provider, Denial.ADMINISTRATION);
        }
        return result;
    }

    private MintResult mint(MintOrder order, S3ProviderSettings provider, Denial denial) {
        Settings key = Settings.ofKey(order.keySettings(), KEY_SETTINGS);
        var request =
                AssumeRoleWithWebIdentityRequest.builder()
                        .roleSessionName(order.mintId().toString())
                        .durationSeconds(RoleSession.seconds(order.duration(), SHORTEST, LONGEST))
                        .policy(SessionPolicy.of(key, denial));
        key.text("role_arn").ifPresent(request::roleArn);
        return tokens.showing(
                provider.sts().endpoint(),
                token(order, provider),
                shown ->
                        sts.assumeRoleWithWebIdentity(
                                provider.sts(),
                                order,
                                request,
                                shown,
                                Map.of("Endpoint", provider.url())));
    }

    private TokenOrder token(MintOrder order, S3ProviderSettings provider) {
        if (tokens.shared() && !provider.claims().isEmpty()) {
            throw new UnusableSettingsException(
                    "access provider setting 'policy_claim' can't be had: the broker's token comes"
                            + " from an external identity provider, which decides what it says");
        }
        return order.token(provider.audience(), provider.claims());
    }
}
