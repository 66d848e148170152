package io.mintmark.provider.sts;

import io.mintmark.base.outbound.NotSent;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.SentSecrets;
import io.mintmark.base.time.Timestamps;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.web.Calls;

import org.jspecify.annotations.Nullable;

import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.sts.model.AssumeRoleRequest;
import software.amazon.awssdk.services.sts.model.AssumeRoleWithWebIdentityRequest;
import software.amazon.awssdk.services.sts.model.Credentials;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Calls an STS by the deadline and returns the result. */
public final class StsCaller {
    /** The form of an access key's id. It is restricted because the id goes to the audit log. */
    private static final Pattern ACCESS_KEY_ID = Pattern.compile("[\\x21-\\x7e]{1,128}");

    private static final String GIVEN_BACK = "the credential contains the broker's own token";

    private final StsClients clients;
    private final WebIdentityCalls unsigned;
    private final Calls calls;

    public StsCaller(StsClients clients, Calls calls) {
        this.clients = clients;
        this.calls = calls;
        this.unsigned = clients.unsigned(calls);
    }

    /**
     * Shows a token and gets a role's credentials.
     *
     * @param shown the broker's token
     * @param further fields beside the credential's own
     */
    public MintResult assumeRoleWithWebIdentity(
            StsEndpoint sts,
            MintOrder order,
            AssumeRoleWithWebIdentityRequest.Builder request,
            Secret shown,
            Map<String, String> further) {
        var sent = new SentSecrets(List.of(shown));
        return call(
                sts,
                sent,
                further,
                () ->
                        unsigned.assumeRole(
                                sts,
                                order.sender(),
                                request.webIdentityToken(shown.reveal()).build(),
                                sent,
                                order.deadline()));
    }

    /**
     * Calls STS like {@link #assumeRoleWithWebIdentity}, with a request signed by the broker's own
     * account.
     */
    public MintResult assumeRole(
            StsEndpoint sts,
            MintOrder order,
            AssumeRoleRequest.Builder request,
            Map<String, String> further) {
        SentSecrets sent;
        try {
            sent = sentBy(clients.ambient().resolveCredentials());
        } catch (SdkException e) {
            return Calls.failed(
                    Reason.PROVIDER_MISCONFIGURED,
                    "auth 'ambient' needs AWS credentials in the broker's environment, but there"
                            + " are none",
                    sts.endpoint());
        }
        return call(sts, sent, further, () -> signed(sts, order, request));
    }

    private @Nullable Credentials signed(
            StsEndpoint sts, MintOrder order, AssumeRoleRequest.Builder request) {
        AssumeRoleRequest whole = request.overrideConfiguration(until(order.deadline())).build();
        try {
            return ScopedValue.where(TenantTransport.SENDER, order.sender())
                    .call(() -> clients.to(sts).assumeRole(whole).credentials());
        } catch (SdkClientException e) {
            throw e.getCause() instanceof NotSent kept ? kept : e;
        }
    }

    /**
     * The secrets in a signed request: of the broker's own credentials, only the session token is
     * sent.
     */
    private static SentSecrets sentBy(AwsCredentials own) {
        return new SentSecrets(
                own instanceof AwsSessionCredentials session
                        ? List.of(new Secret(session.sessionToken()))
                        : List.of());
    }

    private MintResult call(
            StsEndpoint sts,
            SentSecrets sent,
            Map<String, String> further,
            Supplier<@Nullable Credentials> call) {
        try {
            Credentials credentials = call.get();
            return credentials != null && isComplete(credentials)
                    ? fit(minted(credentials, further), sent, sts.endpoint())
                    : Calls.failed(
                            Reason.PROVIDER_ERROR,
                            "the response lacks a part of the credential",
                            sts.endpoint());
        } catch (SdkException e) {
            Failed failed = StsFailures.of(e, sts);
            return new Failed(failed.reason(), sent.hiddenIn(failed.detail()));
        }
    }

    /** Rejects a credential that contains what the broker sent. */
    private static MintResult fit(Minted minted, SentSecrets sent, Endpoint endpoint) {
        if (sent.arePartlyIn(minted.credentialId())) {
            return Calls.failed(Reason.PROVIDER_ERROR, GIVEN_BACK, endpoint);
        }
        return minted.fields().values().stream().anyMatch(sent::areIn)
                ? new Withheld(
                        minted.credentialId(),
                        Optional.of(minted.expiresAt()),
                        Reason.PROVIDER_ERROR,
                        "%s (%s)".formatted(GIVEN_BACK, endpoint.origin()))
                : minted;
    }

    private AwsRequestOverrideConfiguration until(Instant deadline) {
        Duration left = calls.left(deadline);
        // the SDK takes no time-out of zero
        return AwsRequestOverrideConfiguration.builder()
                .apiCallTimeout(left.isPositive() ? left : Duration.ofMillis(1))
                .build();
    }

    @SuppressWarnings("ConstantValue") // the SDK says nothing of nulls, and there are some
    private static boolean isComplete(Credentials credentials) {
        return Stream.<@Nullable Object>of(
                                credentials.accessKeyId(),
                                credentials.secretAccessKey(),
                                credentials.sessionToken(),
                                credentials.expiration())
                        .allMatch(part -> part != null && !part.equals(""))
                && ACCESS_KEY_ID.matcher(credentials.accessKeyId()).matches();
    }

    private static Minted minted(Credentials credentials, Map<String, String> further) {
        Map<String, Secret> fields = new HashMap<>();
        further.forEach((field, value) -> fields.put(field, new Secret(value)));
        fields.put("AccessKeyId", new Secret(credentials.accessKeyId()));
        fields.put("SecretAccessKey", new Secret(credentials.secretAccessKey()));
        fields.put("SessionToken", new Secret(credentials.sessionToken()));
        fields.put("Expiration", new Secret(Timestamps.text(credentials.expiration())));
        return new Minted(fields, credentials.expiration(), credentials.accessKeyId());
    }
}
