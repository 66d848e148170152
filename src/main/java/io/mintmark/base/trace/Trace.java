package io.mintmark.base.trace;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;

import java.util.function.Supplier;

/** The trace of the request that this thread works on. Costs nothing where none is recorded. */
public final class Trace {
    private static final ContextKey<Tracer> TRACER = ContextKey.named("mintmark-tracer");

    private Trace() {}

    /** The context in which a request's steps are recorded, if its own span is. */
    public static Context of(Span request, Tracer tracer) {
        Context context = Context.root().with(request);
        return request.isRecording() ? context.with(TRACER, tracer) : context;
    }

    /** Does a step of the request in a span of its own. */
    public static <T> T step(String name, Supplier<T> work) {
        Span span = begin(name);
        try {
            return work.get();
        } catch (RuntimeException e) {
            span.setStatus(StatusCode.ERROR);
            throw e;
        } finally {
            span.end();
        }
    }

    /** Does a step that returns nothing. */
    public static void step(String name, Runnable work) {
        var _ =
                step(
                        name,
                        () -> {
                            work.run();
                            return name;
                        });
    }

    /** Begins a step that its caller ends. */
    public static Span begin(String name) {
        Tracer tracer = Context.current().get(TRACER);
        return tracer == null ? Span.getInvalid() : tracer.spanBuilder(name).startSpan();
    }

    /** Names the tenant of the request, once its token is verified. */
    public static void ofTenant(String tenant) {
        Span.current().setAttribute("mintmark.tenant", tenant);
    }
}
