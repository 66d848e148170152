package io.mintmark.base.http.request;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.mintmark.base.trace.Trace;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

import java.util.List;

/** Gives every request a span, below the client's where it sends a valid {@code traceparent}. */
public final class TracedRequests implements Filter {
    private static final HeaderName PARENT = HeaderNames.create("traceparent");

    /** Hides {@code tracestate}: nothing that a client may choose freely is passed on. */
    private static final TextMapGetter<Headers> PARENT_ALONE =
            new TextMapGetter<>() {
                @Override
                public Iterable<String> keys(Headers headers) {
                    return List.of(PARENT.lowerCase());
                }

                @Override
                public @Nullable String get(@Nullable Headers headers, String key) {
                    return headers != null && key.equals(PARENT.lowerCase())
                            ? headers.first(PARENT).orElse(null)
                            : null;
                }
            };

    private final Tracer tracer;

    public TracedRequests(Tracer tracer) {
        this.tracer = tracer;
    }

    @Override
    @SuppressWarnings("try") // a scope is there to be closed
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        Context parent =
                W3CTraceContextPropagator.getInstance()
                        .extract(Context.root(), request.headers(), PARENT_ALONE);
        Span span =
                tracer.spanBuilder("request")
                        .setParent(parent)
                        .setSpanKind(SpanKind.SERVER)
                        .startSpan();
        MDC.put("trace_id", span.getSpanContext().getTraceId());
        try (Scope scope = Trace.of(span, tracer).makeCurrent()) {
            chain.proceed();
        } finally {
            span.setAttribute("http.request.method", request.prologue().method().text());
            span.setAttribute("http.route", MatchedRoute.of(request));
            span.setAttribute("http.response.status_code", response.status().code());
            span.end();
        }
    }
}
