package io.mintmark.mint.sts;

import io.mintmark.mint.Endpoint;
import io.mintmark.outbound.Sender;
import io.mintmark.outbound.TenantHttpClients;

import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.model.AssumeRoleWithWebIdentityRequest;
import software.amazon.awssdk.services.sts.model.Credentials;

import java.net.URI;

/** The call that {@link WebIdentityCalls} makes, made by the SDK over the same connections. */
final class SdkCalls implements AutoCloseable {
    private final StsClient sdk;

    SdkCalls(Endpoint endpoint, TenantHttpClients http) {
        this.sdk =
                StsClient.builder()
                        .region(Region.EU_CENTRAL_1)
                        .endpointOverride(URI.create(endpoint.origin()))
                        .credentialsProvider(AnonymousCredentialsProvider.create())
                        .httpClient(new TenantTransport(http))
                        .overrideConfiguration(configuration ->
                                configuration
                                        .defaultProfileFile(ProfileFile.aggregator().build())
                                        .retryStrategy(SafeRetries.strategy())
                                        .addExecutionInterceptor(new WholeUrl(endpoint.path())))
                        .build();
    }

    Credentials assumeRole(Sender sender, AssumeRoleWithWebIdentityRequest request) {
        return ScopedValue.where(TenantTransport.SENDER, sender)
                .call(() -> sdk.assumeRoleWithWebIdentity(request).credentials());
    }

    @Override
    public void close() {
        sdk.close();
    }
}
