package io.mintmark.provider.sts;

import io.mintmark.base.outbound.ProviderWords;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.SentSecrets;

import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Frees errors of quoted tokens, because the SDK writes them to its own logs. */
final class AnswerFilter implements ExecutionInterceptor {
    @Override
    public Optional<InputStream> modifyHttpResponseContent(
            Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
        return context.responseBody()
                .map(AnswerFilter::read)
                .map(body ->
                        context.httpResponse().isSuccessful()
                                ? body
                                : quotable(body, sent(context)))
                .map(ByteArrayInputStream::new);
    }

    private static byte[] read(InputStream answer) {
        try (answer) {
            return answer.readAllBytes();
        } catch (IOException e) {
            throw SdkClientException.create("the connection was lost", e);
        }
    }

    /** Removes from a body what was sent and what looks like a token. */
    static byte[] quotable(byte[] body, SentSecrets sent) {
        String said = new String(body, StandardCharsets.UTF_8);
        return ProviderWords.withoutTokens(sent.hiddenIn(said)).getBytes(StandardCharsets.UTF_8);
    }

    /**
     * The secrets that a signed request contains: of the broker's own credentials, the session
     * token.
     */
    private static SentSecrets sent(Context.ModifyHttpResponse context) {
        return new SentSecrets(
                context
                        .httpRequest()
                        .firstMatchingHeader("X-Amz-Security-Token")
                        .map(Secret::new)
                        .stream()
                        .toList());
    }
}
