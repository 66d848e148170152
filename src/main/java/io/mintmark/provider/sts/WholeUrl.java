package io.mintmark.provider.sts;

import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpRequest;

/**
 * Sends to the endpoint's own path. The SDK keeps only the endpoint's origin, and an STS that
 * shares its host with others is reached by its path.
 *
 * @param path as the endpoint has it; may be empty
 */
record WholeUrl(String path) implements ExecutionInterceptor {

    @Override
    public SdkHttpRequest modifyHttpRequest(
            Context.ModifyHttpRequest context, ExecutionAttributes attributes) {
        return path.isEmpty()
                ? context.httpRequest()
                : context.httpRequest().toBuilder().encodedPath(path).build();
    }
}
