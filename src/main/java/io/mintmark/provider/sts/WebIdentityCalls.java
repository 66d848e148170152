package io.mintmark.provider.sts;

import io.mintmark.base.outbound.FormBody;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.Sender;
import io.mintmark.base.outbound.SentSecrets;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.time.Timeout;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.Calls.Attempt;

import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.HttpHeaders;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.jspecify.annotations.Nullable;

import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.sts.model.AssumeRoleWithWebIdentityRequest;
import software.amazon.awssdk.services.sts.model.Credentials;
import software.amazon.awssdk.services.sts.model.PolicyDescriptorType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Calls AssumeRoleWithWebIdentity, which is unsigned, without the SDK's machinery, by which a mint
 * takes 40 % more of the broker's processor time: one form and one small document. Requests and
 * results are the SDK's own types, and tests compare both implementations.
 */
final class WebIdentityCalls {
    private static final String VERSION = "2011-06-15";
    private static final ContentType FORM =
            ContentType.parse("application/x-www-form-urlencoded; charset=utf-8");

    private final TenantHttpClients clients;
    private final Calls calls;

    WebIdentityCalls(TenantHttpClients clients, Calls calls) {
        this.clients = clients;
        this.calls = calls;
    }

    /** A call that is made until it has an answer that another try can't change. */
    private record Call(
            StsEndpoint sts, Sender sender, Secret form, SentSecrets sent, Instant deadline) {}

    /**
     * The credentials of an answer.
     *
     * @throws AwsServiceException with what the STS says against it
     * @throws SdkClientException if there was no answer by the deadline, or none that can be read
     * @throws io.mintmark.base.outbound.NotSent if the sender's last check keeps a request from
     *     being sent
     */
    Credentials assumeRole(
            StsEndpoint sts,
            Sender sender,
            AssumeRoleWithWebIdentityRequest request,
            SentSecrets sent,
            Instant deadline) {
        var call = new Call(sts, sender, form(request), sent, deadline);
        return calls.repeat(deadline, () -> tried(call))
                .orElseThrow(() -> AbortedException.create("the request was cancelled"))
                .get();
    }

    private Attempt<Supplier<Credentials>> tried(Call call) {
        try {
            Credentials credentials = attempt(call);
            return new Attempt<>(() -> credentials, Optional.empty());
        } catch (AwsServiceException e) {
            return new Attempt<>(
                    () -> {
                        throw e;
                    },
                    Optional.of(Duration.ZERO).filter(_ -> SafeRetries.mayHelp(e)));
        }
    }

    private Credentials attempt(Call call) {
        Duration left = calls.left(call.deadline());
        if (!left.isPositive()) {
            throw late(null);
        }
        HttpPost request = post(call);
        try (Timeout _ = Timeout.after(left, request::abort)) {
            return clients.execute(
                    call.sender(), request, answer -> credentials(answer, call.sent()));
        } catch (IOException e) {
            throw broken(e, call);
        }
    }

    private SdkClientException broken(IOException cause, Call call) {
        if (!calls.left(call.deadline()).isPositive()) {
            return late(cause);
        }
        return Thread.currentThread().isInterrupted()
                ? AbortedException.create("the request was cancelled", cause)
                : SdkClientException.create("the connection was lost", cause);
    }

    private static SdkClientException late(@Nullable IOException cause) {
        return ApiCallTimeoutException.builder().message("too late").cause(cause).build();
    }

    private static HttpPost post(Call call) {
        HttpPost request = new HttpPost(call.sts().endpoint().uri());
        request.setHeader(HttpHeaders.ACCEPT_ENCODING, "identity");
        byte[] form = call.form().reveal().getBytes(StandardCharsets.UTF_8);
        request.setEntity(new ByteArrayEntity(form, FORM));
        return request;
    }

    /** The form with its fields in the SDK's order. */
    private static Secret form(AssumeRoleWithWebIdentityRequest request) {
        FormBody form =
                new FormBody()
                        .with("Action", "AssumeRoleWithWebIdentity")
                        .with("Version", VERSION)
                        .with("RoleArn", Optional.ofNullable(request.roleArn()))
                        .with("RoleSessionName", request.roleSessionName())
                        .with("WebIdentityToken", new Secret(request.webIdentityToken()));
        List<PolicyDescriptorType> policies = request.policyArns();
        for (int i = 0; i < policies.size(); i++) {
            form.with("PolicyArns.member.%d.arn".formatted(i + 1), policies.get(i).arn());
        }
        form.with("Policy", Optional.ofNullable(request.policy()))
                .with("DurationSeconds", request.durationSeconds().toString());
        return form.text();
    }

    private static Credentials credentials(ClassicHttpResponse answer, SentSecrets sent)
            throws IOException {
        byte[] body = TenantTransport.body(answer);
        if (answer.getCode() / 100 != 2) {
            throw StsDocument.refusal(answer, AnswerFilter.quotable(body, sent));
        }
        return StsDocument.credentials(body);
    }
}
