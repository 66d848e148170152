package io.mintmark.wiring;

import io.helidon.health.HealthCheck;
import io.helidon.health.HealthCheckResponse;
import io.helidon.health.checks.HeapMemoryHealthCheck;
import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Rejections;
import io.mintmark.grant.KnownIssuers;
import io.mintmark.health.Check;
import io.mintmark.identity.BrokerIdentity;
import io.mintmark.postgres.Database;
import io.mintmark.postgres.DatabaseHealth;

import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** What has to be well for the broker to serve. */
final class HealthChecks {
    private static final double FULL_HEAP_PERCENT = 98;

    private final HealthCheck heap =
            HeapMemoryHealthCheck.builder().thresholdPercent(FULL_HEAP_PERCENT).build();
    private final List<HealthCheck> health;

    /** A database that takes no rows of the audit log is as good as none. */
    HealthChecks(
            Database database,
            AuditLog audit,
            Rejections rejections,
            BrokerIdentity identity,
            KnownIssuers issuers,
            InstantSource clock) {
        DatabaseHealth answers = new DatabaseHealth(database, clock);
        this.health =
                List.of(
                        new Check(
                                "database",
                                () -> answers.fault().or(audit::fault).or(rejections::fault)),
                        new Check("broker_idp", identity::fault),
                        new Check("config", () -> configurationFault(issuers)),
                        new Check("memory", this::memoryFault));
    }

    /** What clients may know. */
    List<HealthCheck> health() {
        return health;
    }

    /** The same, for whoever decides where requests go. */
    List<HealthCheck> readiness(BooleanSupplier stopping) {
        Check stop = new Check("stopping", () -> stoppingFault(stopping));
        return Stream.concat(health.stream(), Stream.of(stop)).toList();
    }

    private static Optional<String> configurationFault(KnownIssuers issuers) {
        issuers.checkReadable();
        return Optional.empty();
    }

    private Optional<String> memoryFault() {
        HealthCheckResponse response = heap.call();
        return response.status() == HealthCheckResponse.Status.UP
                ? Optional.empty()
                : Optional.of("the heap is over %.0f%% full".formatted(FULL_HEAP_PERCENT));
    }

    private static Optional<String> stoppingFault(BooleanSupplier stopping) {
        return stopping.getAsBoolean() ? Optional.of("the broker is stopping") : Optional.empty();
    }
}
