package io.mintmark.base.health;

import io.helidon.health.HealthCheck;
import io.helidon.health.HealthCheckResponse;
import io.helidon.health.HealthCheckResponse.Status;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The health of this replica. Anybody may ask as often as they like, so the checks run at most once
 * a second.
 */
public final class HealthReport {
    private static final Duration KEPT = Duration.ofSeconds(1);

    /**
     * The checks' results.
     *
     * @param healthyByName whether each check passed, by its name
     * @param errors what doesn't, in sentences
     */
    public record Findings(
            Instant at, Duration uptime, Map<String, Boolean> healthyByName, List<String> errors) {

        /** Whether all checks passed. */
        public boolean isHealthy() {
            return errors.isEmpty();
        }
    }

    private final List<HealthCheck> checks;
    private final InstantSource clock;
    private final Instant started;
    private final ReentrantLock checking = new ReentrantLock();
    private volatile Findings last;

    public HealthReport(List<HealthCheck> checks, InstantSource clock) {
        this.checks = List.copyOf(checks);
        this.clock = clock;
        this.started = clock.instant();
        this.last = new Findings(Instant.MIN, Duration.ZERO, Map.of(), List.of());
    }

    public List<String> checks() {
        return checks.stream().map(HealthCheck::name).toList();
    }

    /** The checks' results, at most a second old. */
    public Findings findings() {
        if (isFresh()) {
            return last;
        }
        checking.lock();
        try {
            if (!isFresh()) {
                last = check();
            }
            return last;
        } finally {
            checking.unlock();
        }
    }

    private boolean isFresh() {
        Instant now = clock.instant();
        return !now.isBefore(last.at()) && last.at().isAfter(now.minus(KEPT));
    }

    private Findings check() {
        Map<String, Boolean> healthy = new LinkedHashMap<>();
        List<String> errors = new ArrayList<>();
        for (HealthCheck check : checks) {
            HealthCheckResponse response = check.call();
            boolean passed = response.status() == Status.UP;
            healthy.put(check.name(), passed);
            if (!passed) {
                errors.add(error(check, response));
            }
        }
        Instant now = clock.instant();
        return new Findings(now, Duration.between(started, now), healthy, errors);
    }

    private static String error(HealthCheck check, HealthCheckResponse response) {
        Object said = response.details().get(Check.ERROR);
        return check.name() + ": " + (said == null ? "the check failed" : said);
    }
}
