package io.mintmark.endtoend;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.Unchecked;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A Prometheus server that scrapes replicas, with the rules of docs/monitoring. */
final class Prometheus implements AutoCloseable {
    private static final String ALERTS = "ALERTS{alertstate=\"firing\"}";

    /**
     * What is scraped.
     *
     * @param seconds between two scrapes, and as long as one may take
     * @param scheme of the admin port; its certificate may be any
     */
    record Job(String name, double seconds, String scheme, int adminPort) {
        private String yaml() {
            long milliseconds = Math.round(1000 * seconds);
            return """
              - job_name: %s
                scrape_interval: %dms
                scrape_timeout: %dms
                metrics_path: /observe/metrics
                scheme: %s
                tls_config: {insecure_skip_verify: true}
                static_configs: [{targets: ["localhost:%d"]}]
            """
                    .formatted(name, milliseconds, milliseconds, scheme, adminPort);
        }
    }

    private final int port = RunningBroker.freePort();
    private final HttpClient client = HttpClient.newHttpClient();
    private final Path log;
    private final Process process;

    /**
     * Starts it and waits until it answers.
     *
     * @param rules as text
     */
    Prometheus(Path directory, String rules, List<Job> jobs) throws IOException {
        this.log = directory.resolve("prometheus.log");
        Files.writeString(directory.resolve("rules.yml"), rules);
        Path configuration = directory.resolve("prometheus.yml");
        Files.writeString(
                configuration,
                """
                global: {evaluation_interval: 1s}
                rule_files: [rules.yml]
                scrape_configs:
                %s
                """
                        .formatted(jobs.stream().map(Job::yaml).collect(Collectors.joining())));
        this.process =
                new ProcessBuilder(
                                System.getProperty("prometheus", "prometheus"),
                                "--config.file=" + configuration,
                                "--storage.tsdb.path=" + directory.resolve("data"),
                                "--web.listen-address=127.0.0.1:" + port)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        Eventually.holds(() -> text().contains("ready to receive"));
    }

    private String text() {
        if (!process.isAlive()) {
            throw new AssertionError(Unchecked.call(() -> Files.readString(log)));
        }
        return Unchecked.call(() -> Files.readString(log));
    }

    /** The series that a query finds now. */
    List<JsonNode> query(String query) {
        URI uri =
                URI.create(
                        "http://127.0.0.1:%d/api/v1/query?query=%s"
                                .formatted(port, URLEncoder.encode(query, StandardCharsets.UTF_8)));
        JsonNode answer =
                Unchecked.call(() ->
                        new ObjectMapper()
                                .readTree(
                                        client.send(
                                                        HttpRequest.newBuilder(uri).build(),
                                                        BodyHandlers.ofString())
                                                .body()));
        if (!answer.path("status").asText().equals("success")) {
            throw new AssertionError(query + ": " + answer);
        }
        return answer.at("/data/result").valueStream().toList();
    }

    /** The alerts that fire now. */
    Set<String> firing() {
        return names(ALERTS);
    }

    /** The alerts that fired at any time of the last seconds. */
    Set<String> fired(Duration last) {
        return names("last_over_time(%s[%ds])".formatted(ALERTS, last.toSeconds()));
    }

    /** The labels of an alert that fires now. */
    List<JsonNode> labels(String alert) {
        return query(ALERTS.replace("}", ",alertname=\"%s\"}".formatted(alert))).stream()
                .map(series -> series.path("metric"))
                .toList();
    }

    private Set<String> names(String query) {
        Set<String> names = new TreeSet<>();
        query(query).forEach(series -> names.add(series.at("/metric/alertname").asText()));
        return names;
    }

    @Override
    public void close() {
        client.close();
        process.destroy();
        process.onExit().join();
    }
}
