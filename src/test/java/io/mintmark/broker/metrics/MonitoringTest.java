package io.mintmark.broker.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;

import io.mintmark.base.metrics.Metric;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Documents, alerts and the dashboard name the metrics that there are. */
class MonitoringTest {
    private static final Path MONITORING = Path.of("docs/monitoring");
    private static final Pattern NAME = Pattern.compile("\\bmintmark_[a-z_]+");

    private static final Pattern PROMQL = Pattern.compile("(?s)```promql\n(.*?)```");

    /** What a runbook looks for in the log, where it is plain text. */
    private static final Pattern GREP = Pattern.compile("-o cat \\| grep (['\"])([^|]+?)\\1 \\|");

    /** The names of all samples. */
    private static final Set<String> SAMPLES =
            Stream.of(Metric.values())
                    .flatMap(MonitoringTest::samples)
                    .collect(Collectors.toUnmodifiableSet());

    private static Stream<String> samples(Metric metric) {
        return metric.kind() == Metric.Kind.TIMER
                ? Stream.of("_bucket", "_sum", "_count", "_max").map(metric.shown()::concat)
                : Stream.of(metric.shown());
    }

    private static Set<String> namesIn(String text) {
        return NAME.matcher(text)
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "docs/monitoring/rules.yml",
                "docs/monitoring/rules.test.yml",
                "k8s/monitors/dashboard.json"
            })
    void every_query_names_a_metric_that_exists(String file) throws IOException {
        Set<String> named = namesIn(Files.readString(Path.of(file)));

        assertFalse(named.isEmpty());
        named.removeAll(SAMPLES);
        assertEquals(Set.of(), named);
    }

    @Test
    void every_panel_asks_for_something() throws IOException {
        JsonNode dashboard =
                new ObjectMapper().readTree(Path.of("k8s/monitors/dashboard.json").toFile());

        assertFalse(dashboard.path("panels").isEmpty());
        for (JsonNode panel : dashboard.path("panels")) {
            for (JsonNode target : panel.path("targets")) {
                assertFalse(namesIn(target.path("expr").asText()).isEmpty(), panel.toString());
            }
            assertFalse(panel.path("targets").isEmpty(), panel.toString());
        }
    }

    @Test
    void every_alert_has_a_line_of_what_to_do_and_a_test() throws IOException {
        String runbook = Files.readString(MONITORING.resolve("README.md"));
        String tests =
                Files.readString(MONITORING.resolve("rules.test.yml"))
                        + Files.readString(MONITORING.resolve("exporters.test.yml"));

        for (String alert : alerts()) {
            assertTrue(runbook.contains("\n### " + alert + "\n"), alert);
            assertTrue(tests.contains("alertname: " + alert + ","), alert);
            assertTrue(tests.contains("alertname=\"" + alert + "\""), alert);
        }
    }

    @Test
    void whoever_is_woken_reads_of_each_alert_what_it_means_and_what_to_do() throws IOException {
        String runbook = Files.readString(MONITORING.resolve("README.md"));

        for (String alert : alerts()) {
            String entry = runbook.split("\n### " + alert + "\n", 2)[1].split("\n### ", 2)[0];
            for (String part : List.of("Means", "Hurts", "Look", "Do", "Resolved")) {
                assertTrue(entry.contains("**" + part + "**"), alert + " lacks " + part);
            }
        }
        Set<String> asked = new TreeSet<>();
        PROMQL.matcher(runbook).results().forEach(query -> asked.addAll(namesIn(query.group(1))));
        assertFalse(asked.isEmpty());
        asked.removeAll(SAMPLES);
        assertEquals(Set.of(), asked);
    }

    @Test
    void each_alert_leads_to_its_entry_and_lasts_before_it_fires() throws IOException {
        for (JsonNode rule : rules().findParents("alert")) {
            String alert = rule.path("alert").asText();
            String url = rule.path("annotations").path("runbook_url").asText();
            assertTrue(
                    url.endsWith("docs/monitoring/README.md#" + alert.toLowerCase(Locale.ROOT)),
                    alert);
            assertTrue(rule.has("for"), alert + " fires at the first sample");
        }
    }

    /**
     * Answers by status, providers and key sets are what clients and tenants cause. Broken glass is
     * meant to wake somebody.
     */
    @Test
    void nothing_that_a_client_or_a_tenant_causes_is_critical() throws IOException {
        Set<String> critical = new TreeSet<>();
        for (JsonNode rule : rules().findParents("alert")) {
            if (rule.path("labels").path("severity").asText().equals("critical")) {
                critical.addAll(namesIn(rule.path("expr").asText()));
            }
        }

        assertEquals(
                Set.of(
                        "mintmark_audit_commit_seconds_count",
                        "mintmark_audit_losses_total",
                        "mintmark_break_glass_total",
                        "mintmark_checkpoint_age_seconds",
                        // of the ports' certificates, which are the operator's
                        "mintmark_not_after_seconds",
                        "mintmark_failures_total",
                        "mintmark_healthy",
                        "mintmark_requests_total"),
                critical);
    }

    /** Those of both files, of which the second is for exporters. */
    private static JsonNode rules() throws IOException {
        ArrayNode rules = new ObjectMapper().createArrayNode();
        for (String file : List.of("rules.yml", "exporters.yml")) {
            Map<String, Object> content =
                    new Yaml().load(Files.readString(MONITORING.resolve(file)));
            rules.add(tree(content));
        }
        return rules;
    }

    private static JsonNode tree(Map<String, Object> content) {
        return new ObjectMapper().valueToTree(content);
    }

    /** The list of what must be routed to the person on call. */
    @Test
    void the_alerts_that_page_are_all_listed() throws IOException {
        String page = Files.readString(Path.of("docs/operations.md"));
        Set<String> critical = new TreeSet<>();
        for (JsonNode rule : rules().findParents("alert")) {
            if (rule.path("labels").path("severity").asText().equals("critical")) {
                critical.add(rule.path("alert").asText());
            }
        }
        Set<String> listed =
                Pattern.compile("(?m)^- \\[(Mintmark\\w+)\\]")
                        .matcher(page.substring(page.indexOf("## Alerts that page")))
                        .results()
                        .map((MatchResult found) -> found.group(1))
                        .collect(Collectors.toCollection(TreeSet::new));

        assertEquals(critical, listed);
    }

    @Test
    void the_first_table_has_each_alert_with_its_severity() throws IOException {
        String page = Files.readString(MONITORING.resolve("README.md"));
        Set<String> rows = new TreeSet<>();
        for (JsonNode rule : rules().findParents("alert")) {
            String alert = rule.path("alert").asText();
            rows.add(
                    "[%s](#%s) | %s"
                            .formatted(
                                    alert,
                                    alert.toLowerCase(Locale.ROOT),
                                    rule.path("labels").path("severity").asText()));
        }
        assertEquals(
                rows,
                Pattern.compile("(?m)^\\| (\\[\\w+\\]\\(#\\w+\\) \\| \\w+) \\|")
                        .matcher(page)
                        .results()
                        .map((MatchResult found) -> found.group(1))
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    private static List<String> alerts() throws IOException {
        return rules().findValuesAsText("alert");
    }

    @Test
    void the_log_lines_that_a_runbook_looks_for_are_logged() throws IOException {
        String runbook = Files.readString(MONITORING.resolve("README.md"));
        List<String> lines =
                GREP.matcher(runbook)
                        .results()
                        .map((MatchResult found) -> found.group(2))
                        .filter(line -> !line.contains("\""))
                        .toList();
        String sources = sources();

        assertTrue(lines.size() >= 7, lines::toString);
        assertEquals(List.of(), lines.stream().filter(line -> !sources.contains(line)).toList());
    }

    private static String sources() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            StringBuilder text = new StringBuilder();
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                text.append(Files.readString(file));
            }
            return text.toString();
        }
    }
}
