package io.mintmark.provider.awssts;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.BrokerTokens;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.UnusableSettingsException;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.TokenOrder;
import io.mintmark.provider.sts.RoleSession;
import io.mintmark.provider.sts.StsCaller;

import software.amazon.awssdk.services.sts.model.AssumeRoleRequest;
import software.amazon.awssdk.services.sts.model.AssumeRoleWithWebIdentityRequest;
import software.amazon.awssdk.services.sts.model.PolicyDescriptorType;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Credentials of an AWS role. The broker shows a token of its own that names tenant, key and mint
 * ({@code web-identity}), or, where an account can't trust an OIDC issuer, its own AWS credentials
 * and the tenant's external id ({@code ambient}).
 */
public final class AwsSts implements AccessProvider {
    private static final int SHORTEST = 900;
    private static final int LONGEST = 43_200;
    private static final String AUDIENCE = "sts.amazonaws.com";
    private static final String SOURCE_IDENTITY = "https://aws.amazon.com/source_identity";
    private static final String TAGS = "https://aws.amazon.com/tags";

    private final BrokerTokens tokens;
    private final TokenDestinations destinations;
    private final StsCaller sts;

    public AwsSts(BrokerIdentity identity, TokenDestinations destinations, StsCaller sts) {
        this.tokens = new BrokerTokens(identity, destinations);
        this.destinations = destinations;
        this.sts = sts;
    }

    @Override
    public CredentialType type() {
        return new AwsStsType();
    }

    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        AwsProviderSettings provider = AwsProviderSettings.of(providerSettings);
        AwsKeySettings key = AwsKeySettings.of(keySettings);
        destinations.requireConfidential("endpoint", provider.sts().endpoint());
        List<String> targets = List.of(key.roleArn());
        if (provider.sts().ambient()) {
            requireAws(provider.sts().endpoint());
            return new Prepared(targets, true, order -> assumeRole(order, provider, key));
        }
        boolean aws = destinations.takesAwsTokens(provider.sts().endpoint());
        return new Prepared(
                targets,
                tokens.shared(),
                order -> assumeRoleWithWebIdentity(order, provider, key, aws));
    }

    private MintResult assumeRoleWithWebIdentity(
            MintOrder order, AwsProviderSettings provider, AwsKeySettings key, boolean aws) {
        var request =
                AssumeRoleWithWebIdentityRequest.builder()
                        .roleArn(key.roleArn())
                        .roleSessionName(RoleSession.name(key.sessionName(), order))
                        .durationSeconds(order.seconds(SHORTEST, LONGEST));
        key.policy().ifPresent(request::policy);
        policies(key).ifPresent(request::policyArns);
        return tokens.showing(
                provider.sts().endpoint(),
                token(order, provider, aws),
                shown ->
                        sts.assumeRoleWithWebIdentity(
                                provider.sts(), order, request, shown, region(provider)));
    }

    private MintResult assumeRole(
            MintOrder order, AwsProviderSettings provider, AwsKeySettings key) {
        var request =
                AssumeRoleRequest.builder()
                        .roleArn(key.roleArn())
                        .roleSessionName(RoleSession.name(key.sessionName(), order))
                        .durationSeconds(order.seconds(SHORTEST, LONGEST))
                        .externalId(order.externalId().toString())
                        .sourceIdentity(order.mintId().toString());
        if (provider.sessionTags()) {
            request.tags(new AwsTags(order).asParameter());
        }
        key.policy().ifPresent(request::policy);
        policies(key).ifPresent(request::policyArns);
        return sts.assumeRole(provider.sts(), order, request, region(provider));
    }

    /**
     * AWS takes tags and source identity from the token; there are no parameters for them.
     *
     * @param aws whether the endpoint may get tokens that AWS accepts
     */
    private static TokenOrder token(MintOrder order, AwsProviderSettings provider, boolean aws) {
        Map<String, Object> claims = new HashMap<>();
        if (aws) {
            claims.put(SOURCE_IDENTITY, order.mintId().toString());
        }
        if (aws && provider.sessionTags()) {
            claims.put(TAGS, new AwsTags(order).asClaim());
        }
        return order.token(aws ? AUDIENCE : provider.sts().endpoint().origin(), claims);
    }

    private void requireAws(Endpoint endpoint) {
        if (!destinations.takesAwsTokens(endpoint)) {
            throw new UnusableSettingsException(
                    "auth 'ambient' presents the broker's AWS identity, but %s is neither a host of AWS STS nor listed in OUTBOUND_ALLOWED_HOSTS"
                            .formatted(endpoint.origin()));
        }
    }

    private static Optional<List<PolicyDescriptorType>> policies(AwsKeySettings key) {
        return Optional.of(key.policyArns())
                .filter(arns -> !arns.isEmpty())
                .map(arns ->
                        arns.stream()
                                .map(arn -> PolicyDescriptorType.builder().arn(arn).build())
                                .toList());
    }

    private static Map<String, String> region(AwsProviderSettings provider) {
        return Map.of("Region", provider.sts().region());
    }
}
