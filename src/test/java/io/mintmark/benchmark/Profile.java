package io.mintmark.benchmark;

import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where a program's processor time goes, by the JVM's own samples of it (JEP 509): what runs below
 * a frame counts for the first part in this order that has the frame's class.
 */
final class Profile {
    private static final String SAMPLE = "jdk.CPUTimeSample";
    private static final String REST = "threads, waits and the rest";
    private static final List<Part> PARTS =
            List.of(
                    new Part("signing the broker's token", "io.mintmark.identity."),
                    new Part(
                            "the call of the STS",
                            "io.mintmark.mint.sts.",
                            "io.mintmark.outbound.",
                            "software.amazon.awssdk.",
                            "org.apache.hc."),
                    new Part("checking the identity token", "io.mintmark.token.", "com.nimbusds."),
                    new Part(
                            "the audit log, and asking for the state at the commit",
                            "io.mintmark.audit.",
                            "io.mintmark.postgres."),
                    new Part("the log", "io.mintmark.logging.", "org.slf4j.", "java.util.logging."),
                    new Part("metrics", "io.micrometer.", "io.helidon.metrics."),
                    new Part(
                            "deciding, and the order of a mint",
                            "io.mintmark.grant.",
                            "io.mintmark.exchange.",
                            "io.mintmark.mint."),
                    new Part("HTTP and JSON", "io.mintmark.http.", "io.helidon."));

    /** What a recording has to record: a sample for each 2 ms of a thread's processor time. */
    static final List<String> SETTINGS =
            List.of(
                    SAMPLE + "#enabled=true",
                    "jdk.ExecutionSample#enabled=false",
                    SAMPLE + "#throttle=2ms");

    private record Part(String name, List<String> classes) {
        Part(String name, String... classes) {
            this(name, List.of(classes));
        }

        boolean has(RecordedStackTrace stack) {
            return stack.getFrames().stream().anyMatch(this::has);
        }

        private boolean has(RecordedFrame frame) {
            String name = frame.getMethod().getType().getName();
            return classes.stream().anyMatch(name::startsWith);
        }
    }

    private Profile() {}

    /** Each part's share of what the threads of Java used. */
    static Map<String, Double> shares(Path recording) throws IOException {
        Map<String, Integer> samples = new LinkedHashMap<>();
        PARTS.forEach(part -> samples.put(part.name, 0));
        int all = 0;
        for (RecordedEvent event : RecordingFile.readAllEvents(recording)) {
            RecordedStackTrace stack = event.getStackTrace();
            if (event.getEventType().getName().equals(SAMPLE) && stack != null) {
                samples.merge(part(stack), 1, Integer::sum);
                all++;
            }
        }
        if (all == 0) {
            throw new IllegalStateException("no sample in " + recording);
        }
        Map<String, Double> shares = new LinkedHashMap<>();
        for (Map.Entry<String, Integer> each : samples.entrySet()) {
            shares.put(each.getKey(), (double) each.getValue() / all);
        }
        return shares;
    }

    private static String part(RecordedStackTrace stack) {
        return PARTS.stream()
                .filter(part -> part.has(stack))
                .findFirst()
                .map(Part::name)
                .orElse(REST);
    }
}
