package io.mintmark.broker.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.helidon.metrics.api.Gauge;
import io.helidon.metrics.api.Meter;
import io.mintmark.base.metrics.Meters;
import io.mintmark.base.metrics.Metric;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.token.KeySource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

final class FailingIssuersTest {
    private static final TenantName ACME = new TenantName("failing-acme");
    private static final TenantName OTHER = new TenantName("failing-other");

    private final AtomicLong now = new AtomicLong(1_000);
    private final Meters meters = new Meters();
    private final FailingIssuers issuers = new FailingIssuers(meters, now::get);

    @AfterEach
    void close() {
        meters.close();
    }

    private static KeySource source(String issuer) {
        return new KeySource(issuer, Optional.empty(), Optional.empty(), Optional.empty());
    }

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }

    /** Seconds by tenant and issuer. */
    private Map<String, Double> shown() {
        return meters.registry().meters().stream()
                .filter(meter ->
                        meter.id().name().equals(Metric.ISSUER_FAILING_SECONDS.registered()))
                .filter(meter -> labels(meter).startsWith("failing-"))
                .collect(
                        Collectors.toMap(
                                FailingIssuersTest::labels,
                                meter -> ((Gauge<?>) meter).value().doubleValue(),
                                (one, _) -> one,
                                TreeMap::new));
    }

    private static String labels(Meter meter) {
        Map<String, String> tags = meter.id().tagsMap();
        return tags.get("tenant") + " " + tags.get("issuer");
    }

    @Test
    void an_issuer_fails_from_its_first_failure_to_its_last_until_it_succeeds() {
        issuers.failed(ACME, source("https://a"));
        assertEquals(Map.of("failing-acme https://a", 0.0), shown());
        pass(Duration.ofMinutes(20));
        assertEquals(Map.of("failing-acme https://a", 0.0), shown());
        issuers.failed(OTHER, source("https://a"));
        assertEquals(Map.of("failing-acme https://a", 1200.0), shown());
        issuers.succeeded(source("https://b"));
        assertEquals(Map.of("failing-acme https://a", 1200.0), shown());
        issuers.succeeded(source("https://a"));
        assertEquals(Map.of(), shown());
        issuers.failed(OTHER, source("https://a"));
        assertEquals(Map.of("failing-other https://a", 0.0), shown());
    }

    @Test
    void an_issuer_that_nobody_asks_is_forgotten() {
        issuers.failed(ACME, source("https://a"));
        pass(Duration.ofMinutes(10));
        issuers.failed(ACME, source("https://a"));
        pass(FailingIssuers.FORGOTTEN.plusSeconds(1));
        assertEquals(Map.of("failing-acme https://a", 0.0), shown());
        issuers.failed(ACME, source("https://b"));
        assertEquals(Map.of("failing-acme https://b", 0.0), shown());
    }

    @Test
    void one_tenant_takes_no_more_than_its_share_and_all_no_more_than_the_limit() {
        for (int i = 0; i < 10; i++) {
            issuers.failed(ACME, source("https://of-one-" + i));
        }
        assertEquals(FailingIssuers.MOST_OF_A_TENANT, shown().size());
        for (int i = 0; i < 200; i++) {
            issuers.failed(new TenantName("failing-" + i), source("https://issuer-" + i));
        }
        assertEquals(FailingIssuers.MOST, shown().size());
        issuers.succeeded(source("https://of-one-0"));
        issuers.failed(OTHER, source("https://late"));
        assertEquals(0.0, shown().get("failing-other https://late"));
    }
}
