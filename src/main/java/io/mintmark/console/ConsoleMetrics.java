package io.mintmark.console;

import io.helidon.http.Status;
import io.helidon.metrics.api.MeterRegistry;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.mintmark.base.http.request.AccessLog;
import io.mintmark.base.http.tls.PortTls;
import io.mintmark.base.metrics.Meters;
import io.mintmark.base.metrics.Metric;
import io.mintmark.base.metrics.ProcessGauges;
import io.mintmark.base.start.Certificates;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** What operators see of a console: counts and ages, and nothing about the people who use it. */
public final class ConsoleMetrics implements Filter {
    private static final String SUCCEEDED = "succeeded";
    private static final String REDIRECTED = "redirected";
    private static final String REFUSED = "refused";
    private static final String FAILED = "failed";

    private final Meters meters;

    public ConsoleMetrics(Meters meters) {
        this.meters = meters;
        for (String outcome : new String[] {SUCCEEDED, REDIRECTED, REFUSED, FAILED}) {
            meters.announce(Metric.CONSOLE_REQUESTS, outcome);
            meters.announce(Metric.CONSOLE_REQUEST, outcome);
        }
        meters.announce(Metric.CONSOLE_LOGINS, SUCCEEDED);
        meters.announce(Metric.CONSOLE_LOGINS, FAILED);
    }

    MeterRegistry registry() {
        return meters.registry();
    }

    /** Counts the response; {@link AccessLog#CLIENT_LEFT} if the request got none. */
    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        long began = System.nanoTime();
        int status = AccessLog.CLIENT_LEFT;
        try {
            chain.proceed();
            status = response.status().code();
        } finally {
            responded(status);
            meters.time(
                    Metric.CONSOLE_REQUEST,
                    Duration.ofNanos(System.nanoTime() - began),
                    outcome(status));
        }
    }

    /** Counts a response that no filter has seen. */
    void responded(int status) {
        meters.count(Metric.CONSOLE_REQUESTS, outcome(status));
    }

    private static String outcome(int status) {
        return switch (Status.Family.of(status)) {
            case REDIRECTION -> REDIRECTED;
            case CLIENT_ERROR -> REFUSED;
            case SERVER_ERROR -> FAILED;
            case INFORMATIONAL, SUCCESSFUL, OTHER -> SUCCEEDED;
        };
    }

    void loggedIn() {
        meters.count(Metric.CONSOLE_LOGINS, SUCCEEDED);
    }

    void loginFailed() {
        meters.count(Metric.CONSOLE_LOGINS, FAILED);
    }

    /** Shows whether the check passes, which is asked at each scrape. */
    void showCheck(String check, BooleanSupplier passes) {
        meters.show(Metric.CONSOLE_HEALTHY, () -> passes.getAsBoolean() ? 1 : 0, check);
    }

    /**
     * Shows what must be replaced some day, and the process.
     *
     * @param cookieKeyWritten when the file of the key was, as the console has read it; empty if
     *     that isn't known
     */
    public void show(
            Certificates certificates,
            Optional<Instant> cookieKeyWritten,
            InstantSource clock,
            String version,
            String signatures) {
        ProcessGauges process = new ProcessGauges(meters);
        process.showThreads();
        for (PortTls port : certificates.all()) {
            process.showNotAfter(port.file().setting(), port::notAfter);
        }
        process.showKeyAge(
                "CONSOLE_COOKIE_KEY_FILE",
                () -> cookieKeyWritten.map(written -> Duration.between(written, clock.instant())));
        process.show(version, signatures);
    }
}
