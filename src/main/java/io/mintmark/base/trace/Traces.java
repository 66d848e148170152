package io.mintmark.base.trace;

import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Sends spans to a collector, as OpenTelemetry's own variables say. The queue is bounded; what it
 * can't take is dropped, so that a slow or missing collector holds up no request.
 */
public final class Traces implements AutoCloseable {
    private static final List<String> ENDPOINTS =
            List.of("otel.exporter.otlp.endpoint", "otel.exporter.otlp.traces.endpoint");

    /**
     * Defaults; variables of the environment override them. Metrics and logs have ways of their
     * own.
     */
    private static final Map<String, String> DEFAULTS =
            Map.of(
                    "otel.service.name", "mintmark",
                    "otel.exporter.otlp.protocol", "http/protobuf",
                    "otel.metrics.exporter", "none",
                    "otel.logs.exporter", "none");

    private static final int SECONDS_TO_SEND_THE_REST = 2;

    private final OpenTelemetrySdk sdk;

    private Traces(OpenTelemetrySdk sdk) {
        this.sdk = sdk;
    }

    /**
     * Tracing as configured; empty unless the process's environment, or a system property, names a
     * collector.
     */
    public static Optional<Traces> configured() {
        if (ENDPOINTS.stream().allMatch(Traces::isUnset)) {
            return Optional.empty();
        }
        return Optional.of(
                new Traces(
                        AutoConfiguredOpenTelemetrySdk.builder()
                                .addPropertiesSupplier(() -> DEFAULTS)
                                .disableShutdownHook()
                                .build()
                                .getOpenTelemetrySdk()));
    }

    /** The SDK reads both too. */
    private static boolean isUnset(String property) {
        String variable = property.replace('.', '_').toUpperCase(Locale.ROOT);
        return Objects.requireNonNullElse(System.getenv(variable), "").isBlank()
                && System.getProperty(property, "").isBlank();
    }

    public Tracer tracer() {
        return sdk.getTracer("io.mintmark");
    }

    @Override
    public void close() {
        sdk.shutdown().join(SECONDS_TO_SEND_THE_REST, TimeUnit.SECONDS);
    }
}
