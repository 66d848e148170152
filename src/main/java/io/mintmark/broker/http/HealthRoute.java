package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.health.HealthReport;
import io.mintmark.base.health.HealthReport.Findings;

import java.time.temporal.ChronoUnit;

/** The health report (HTTP API section 2.6). */
final class HealthRoute implements Handler {
    private static final int SERVICE_UNAVAILABLE = 503;
    private static final String VERSION = version();

    private final HealthReport report;
    private final Answers answers;

    HealthRoute(HealthReport report, Answers answers) {
        this.report = report;
        this.answers = answers;
    }

    @Override
    public void handle(ServerRequest request, ServerResponse response) {
        Findings findings = report.findings();
        ObjectNode body =
                Json.object()
                        .put("status", word(findings.isHealthy()))
                        .put("timestamp", findings.at().truncatedTo(ChronoUnit.MILLIS).toString())
                        .put("version", VERSION)
                        .put("uptime", findings.uptime().toSeconds());
        ObjectNode checks = body.putObject("checks");
        findings.healthyByName().forEach((name, healthy) -> checks.put(name, word(healthy)));
        if (!findings.isHealthy()) {
            Refusals.with(body, "errors", findings.errors());
        }
        answers.send(request, response, findings.isHealthy() ? 200 : SERVICE_UNAVAILABLE, body);
    }

    private static String word(boolean healthy) {
        return healthy ? "healthy" : "unhealthy";
    }

    private static String version() {
        String packaged = HealthRoute.class.getPackage().getImplementationVersion();
        return packaged == null ? "development" : packaged;
    }
}
