package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Incidents under a real Prometheus with the rules of docs/monitoring/rules.yml: each fires its
 * alerts and no others. A minute of the rules is a second here, an hour a minute.
 */
final class Incidents implements AutoCloseable {
    private static final Path RULES = Path.of("docs", "monitoring", "rules.yml");
    private static final Duration PATIENCE = Eventually.PATIENCE;

    private final Set<String> shown = new TreeSet<>();
    private final Prometheus prometheus;

    /** Starts the server and waits until all its targets respond. */
    Incidents(Path directory, Prometheus.Job... jobs) throws IOException {
        prometheus = new Prometheus(directory, rules(), List.of(jobs));
        Eventually.holds(PATIENCE, () -> prometheus.query("up == 1").size() == jobs.length);
    }

    private static String rules() throws IOException {
        String rules = Files.readString(RULES);
        String scaled =
                Pattern.compile("\\b(\\d+)([mh])(?=[])\\n])")
                        .matcher(rules)
                        .replaceAll(time -> time.group(1) + (time.group(2).equals("h") ? "m" : "s"))
                        // a busy machine lets some scrapes time out
                        .replaceAll("for: [1-4]s", "for: 5s");
        return replaced(
                // checkpoints are a minute apart
                replaced(scaled, "mintmark_checkpoint_age_seconds) > 300", " > 90"),
                "mintmark_issuer_failing_seconds) > 600",
                " > 10");
    }

    private static String replaced(String rules, String condition, String threshold) {
        assertTrue(rules.contains(condition), condition);
        return rules.replace(condition, condition.replaceAll(" > \\d+$", threshold));
    }

    void assertNothingFires() {
        LockSupport.parkNanos(Duration.ofSeconds(15).toNanos());
        assertEquals(Set.of(), prometheus.fired(Duration.ofSeconds(15)));
    }

    /** The alerts that incidents have fired. */
    Set<String> shown() {
        return shown;
    }

    /** An incident: what happens, what it fires, and how it ends. */
    void fires(Runnable incident, Runnable end, String... alerts) {
        Eventually.holds(PATIENCE, prometheus::firing, Set.of()::equals);
        long began = System.nanoTime();
        Set<String> expected = new TreeSet<>(Set.of(alerts));
        incident.run();
        Eventually.holds(PATIENCE, () -> firedSince(began), fired -> fired.containsAll(expected));
        // whatever else would fire has time to
        LockSupport.parkNanos(Duration.ofSeconds(5).toNanos());
        assertEquals(expected, firedSince(began));
        shown.addAll(expected);
        end.run();
    }

    private Set<String> firedSince(long began) {
        return prometheus.fired(Duration.ofNanos(System.nanoTime() - began).plusSeconds(1));
    }

    void assertLabels(String alert, String label, String value) {
        List<JsonNode> labels = prometheus.labels(alert);
        assertEquals(
                List.of(value),
                labels.stream().map(one -> one.path(label).asText()).toList(),
                alert);
    }

    /** The names of all alerts. */
    static Set<String> alerts() throws IOException {
        return Pattern.compile("(?m)^      - alert: (\\w+)$")
                .matcher(Files.readString(RULES))
                .results()
                .map((MatchResult found) -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Override
    public void close() {
        prometheus.close();
    }
}
