package io.mintmark.mint.sts;

import io.mintmark.outbound.ProviderWords;

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
                .map(body -> context.httpResponse().isSuccessful() ? body : withoutTokens(body))
                .map(ByteArrayInputStream::new);
    }

    private static byte[] read(InputStream answer) {
        try (answer) {
            return answer.readAllBytes();
        } catch (IOException e) {
            throw SdkClientException.create("the connection broke", e);
        }
    }

    private static byte[] withoutTokens(byte[] body) {
        return ProviderWords.withoutTokens(new String(body, StandardCharsets.UTF_8))
                .getBytes(StandardCharsets.UTF_8);
    }
}
