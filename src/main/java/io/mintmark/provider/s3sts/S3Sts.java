package io.mintmark.provider.s3sts;

import com.fasterxml.jackson.databind.JsonNode;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.BrokerTokens;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.UnusableSettingsException;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.s3sts.SessionPolicy.Denial;
import io.mintmark.provider.sts.StsCaller;
import io.mintmark.provider.sts.StsEndpoint;

import software.amazon.awssdk.services.sts.model.AssumeRoleWithWebIdentityRequest;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;

/**
 * Credentials of S3-compatible storage that speaks AWS's AssumeRoleWithWebIdentity, such as MinIO
 * and Ceph. Its token is good for that server alone.
 */
public final class S3Sts implements AccessProvider {
    private static final int SHORTEST = 900;
    private static final int LONGEST = 604_800;
    private static final int MOST_SERVERS = 1000;
    private static final Duration REMEMBERED = Duration.ofHours(1);

    private final BrokerTokens tokens;
    private final TokenDestinations destinations;
    private final StsCaller sts;

    /** The kind of denial that each server accepts, tried again after it is evicted. */
    private final Cache<StsEndpoint, Denial> denials =
            Caffeine.newBuilder().maximumSize(MOST_SERVERS).expireAfterWrite(REMEMBERED).build();

    public S3Sts(BrokerIdentity identity, TokenDestinations destinations, StsCaller sts) {
        this.tokens = new BrokerTokens(identity, destinations);
        this.destinations = destinations;
        this.sts = sts;
    }

    @Override
    public CredentialType type() {
        return new S3StsType();
    }

    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        S3Settings settings = S3Settings.of(providerSettings, keySettings, destinations);
        if (tokens.shared() && !settings.claims().isEmpty()) {
            throw new UnusableSettingsException(
                    "access provider setting 'policy_claim' can't be used: the broker's token comes"
                            + " from an external identity provider, which decides the token's"
                            + " claims");
        }
        return new Prepared(
                settings.roleArn().stream().toList(),
                tokens.shared(),
                order -> mint(order, settings));
    }

    private MintResult mint(MintOrder order, S3Settings settings) {
        Denial known = denials.getIfPresent(settings.sts());
        MintResult result =
                mint(order, settings, Objects.requireNonNullElse(known, Denial.ALL_BUT_S3));
        if (known == null && SessionPolicy.isForeign(result)) {
            denials.put(settings.sts(), Denial.ADMINISTRATION);
            return mint(order, settings, Denial.ADMINISTRATION);
        }
        return result;
    }

    private MintResult mint(MintOrder order, S3Settings settings, Denial denial) {
        var request =
                AssumeRoleWithWebIdentityRequest.builder()
                        .roleSessionName(order.mintId().toString())
                        .durationSeconds(order.seconds(SHORTEST, LONGEST))
                        .policy(settings.policies().get(denial));
        settings.roleArn().ifPresent(request::roleArn);
        return tokens.showing(
                settings.sts().endpoint(),
                order.token(settings.audience(), settings.claims()),
                shown ->
                        sts.assumeRoleWithWebIdentity(
                                settings.sts(),
                                order,
                                request,
                                shown,
                                Map.of("Endpoint", settings.url())));
    }
}
