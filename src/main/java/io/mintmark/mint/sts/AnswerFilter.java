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

/**
 * What the SDK gets to see of an answer. It would read one without an end into memory, and it
 * writes errors to its own logs, quoted token and all.
 */
final class AnswerFilter implements ExecutionInterceptor {
    /** An STS answers with a few KiB. */
    private static final int MOST_BYTES = 256 * 1024;

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
            byte[] body = answer.readNBytes(MOST_BYTES + 1);
            if (body.length > MOST_BYTES) {
                throw SdkClientException.create("longer than %d bytes".formatted(MOST_BYTES));
            }
            return body;
        } catch (IOException e) {
            throw SdkClientException.create("the connection broke", e);
        }
    }

    private static byte[] withoutTokens(byte[] body) {
        return ProviderWords.withoutTokens(new String(body, StandardCharsets.UTF_8))
                .getBytes(StandardCharsets.UTF_8);
    }
}
