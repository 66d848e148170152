package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Collector.Span;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A mint's trace in the OpenTelemetry Collector, which {@code .ci/collector} builds. */
class CollectorIT {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String CLIENT = "00f067aa0ba902b7";
    private static final String ENDPOINT = "otel.exporter.otlp.endpoint";
    private static final List<String> STEPS =
            List.of(
                    "call_provider",
                    "call_provider",
                    "commit_intent",
                    "commit_outcome",
                    "decide",
                    "verify_token");

    /** Each attribute that a span may have; another one needs a reason not to be a secret. */
    private static final Map<String, Set<String>> ATTRIBUTES =
            Map.of(
                    "request",
                    Set.of(
                            "http.request.method",
                            "http.response.status_code",
                            "http.route",
                            "mintmark.tenant"),
                    "call_provider",
                    Set.of("mintmark.key", "mintmark.mint_id", "mintmark.outcome"));

    @TempDir private Path directory;
    private Collector collector;

    @BeforeEach
    void start() throws IOException {
        collector = new Collector(directory);
        System.setProperty(ENDPOINT, collector.endpoint());
    }

    @AfterEach
    void stop() {
        System.clearProperty(ENDPOINT);
        collector.close();
    }

    @Test
    void a_mint_is_one_trace_with_its_steps_and_no_secret() {
        Answer answer;
        String token;
        List<String> mints;
        try (World world = new World()) {
            token = world.token();
            answer =
                    world.broker()
                            .post(
                                    "{\"keys\":[\"deploy\",\"api\"]}",
                                    "Authorization",
                                    "Bearer " + token,
                                    "traceparent",
                                    "00-" + TRACE + "-" + CLIENT + "-01");
            mints = world.column("SELECT DISTINCT mint_id FROM audit.event");
        }
        assertEquals(200, answer.status());

        Eventually.holds(() -> ofTheMint().size() == 1 + STEPS.size());
        List<Span> spans = ofTheMint();
        Span request = named(spans, "request").getFirst();
        assertEquals(CLIENT, request.parent());
        assertEquals(
                Map.of(
                        "http.request.method", "Str(POST)",
                        "http.response.status_code", "Int(200)",
                        "http.route", "Str(/credentials/mint)",
                        "mintmark.tenant", "Str(acme)"),
                request.values());
        assertEquals(STEPS, below(spans, request));
        assertEquals(
                mints.stream().map("Str(%s)"::formatted).collect(Collectors.toSet()),
                named(spans, "call_provider").stream()
                        .map(span -> span.values().get("mintmark.mint_id"))
                        .collect(Collectors.toSet()));
        collector.spans().forEach(CollectorIT::hasNoOtherAttribute);
        assertTrue(collector.text().contains("service.name: Str(mintmark)"));
        secrets(answer, token).forEach(secret -> assertFalse(collector.text().contains(secret)));
    }

    /** The providers' fetches of the broker's keys are traces of their own. */
    private List<Span> ofTheMint() {
        return collector.spans().stream().filter(span -> span.trace().equals(TRACE)).toList();
    }

    private static List<Span> named(List<Span> spans, String name) {
        return spans.stream().filter(span -> span.name().equals(name)).toList();
    }

    private static List<String> below(List<Span> spans, Span parent) {
        return spans.stream()
                .filter(span -> span.parent().equals(parent.id()))
                .map(Span::name)
                .sorted()
                .toList();
    }

    private static void hasNoOtherAttribute(Span span) {
        Set<String> others = new TreeSet<>(span.values().keySet());
        others.removeAll(ATTRIBUTES.getOrDefault(span.name(), Set.of()));
        assertEquals(Set.of(), others, span.name());
    }

    /** What the client sent and got, and whom the token names. */
    private static List<String> secrets(Answer answer, String token) {
        List<String> secrets = new ArrayList<>(List.of(token, World.SUBJECT));
        answer.body()
                .get("credentials")
                .forEach(credential -> credential.forEach(value -> secrets.add(value.asText())));
        assertTrue(secrets.size() > 3, secrets::toString);
        return secrets;
    }
}
