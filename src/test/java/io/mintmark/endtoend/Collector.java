package io.mintmark.endtoend;

import io.mintmark.Unchecked;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The OpenTelemetry Collector as {@code .ci/collector} builds it. It prints what it receives. */
final class Collector implements AutoCloseable {
    private static final Path PROGRAM = Path.of("target", "collector", "built", "collector");

    private final int port = RunningBroker.freePort();
    private final Path output;
    private final Process process;

    /**
     * Starts it and waits until it receives.
     *
     * @param directory for its files
     */
    Collector(Path directory) throws IOException {
        this.output = directory.resolve("collector.log");
        Path configuration = directory.resolve("collector.yaml");
        Files.writeString(
                configuration,
                """
                receivers:
                  otlp: {protocols: {http: {endpoint: 127.0.0.1:%d}}}
                exporters:
                  debug: {verbosity: detailed}
                service:
                  telemetry: {metrics: {level: none}}
                  pipelines:
                    traces: {receivers: [otlp], exporters: [debug]}
                """
                        .formatted(port));
        this.process =
                new ProcessBuilder(PROGRAM.toString(), "--config", configuration.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        Eventually.holds(() -> text().contains("Everything is ready"));
    }

    /**
     * A span as the collector prints it.
     *
     * @param parent empty for the first of a trace
     */
    record Span(String name, String trace, String id, String parent, Map<String, String> values) {}

    String endpoint() {
        return "http://127.0.0.1:" + port;
    }

    /** All that it has printed. */
    String text() {
        return Unchecked.call(() -> Files.readString(output, StandardCharsets.UTF_8));
    }

    List<Span> spans() {
        List<Span> spans = new ArrayList<>();
        String[] printed = text().split("\nSpan #\\d+\n", -1);
        for (int i = 1; i < printed.length; i++) {
            spans.add(span(printed[i]));
        }
        return spans;
    }

    private static Span span(String printed) {
        Map<String, String> fields = new HashMap<>();
        Map<String, String> values = new HashMap<>();
        String ofTheSpan = printed.split("ResourceSpans #", 2)[0];
        for (String line : ofTheSpan.lines().toList()) {
            int colon = line.indexOf(": ");
            if (line.startsWith("     -> ")) {
                values.put(line.substring(8, colon), line.substring(colon + 2));
            } else if (line.startsWith("    ") && colon > 0) {
                fields.put(line.substring(0, colon).strip(), line.substring(colon + 2).strip());
            }
        }
        return new Span(
                fields.getOrDefault("Name", ""),
                fields.getOrDefault("Trace ID", ""),
                fields.getOrDefault("ID", ""),
                fields.getOrDefault("Parent ID", ""),
                values);
    }

    @Override
    public void close() {
        process.destroy();
        process.onExit().join();
    }
}
