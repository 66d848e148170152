package io.mintmark.broker.wiring;

import io.helidon.health.HealthCheck;
import io.helidon.health.HealthCheckResponse;
import io.helidon.health.checks.HeapMemoryHealthCheck;
import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Rejections;
import io.mintmark.base.health.Check;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.DatabaseHealth;
import io.mintmark.base.time.Clocks;
import io.mintmark.broker.exchange.OwnFaults;
import io.mintmark.broker.grant.KnownIssuers;
import io.mintmark.provider.identity.BrokerIdentity;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** The checks that decide whether the broker can serve. */
final class HealthChecks {
    private static final double FULL_HEAP_PERCENT = 98;

    private final HealthCheck heap =
            HeapMemoryHealthCheck.builder().thresholdPercent(FULL_HEAP_PERCENT).build();
    private final List<HealthCheck> health;

    /**
     * A database that takes no rows of the audit log is as good as none, and so is one that this
     * replica can't judge or can't write to.
     */
    HealthChecks(
            Database database,
            AuditLog audit,
            Rejections rejections,
            BrokerIdentity identity,
            KnownIssuers issuers,
            Clocks clocks) {
        DatabaseHealth answers = new DatabaseHealth(database, clocks);
        OwnFaults own = new OwnFaults(clocks, audit, rejections);
        this.health =
                List.of(
                        Check.ofReadiness(
                                "database",
                                () ->
                                        answers.fault()
                                                .or(own::find)
                                                .or(audit::fault)
                                                .or(rejections::fault)),
                        Check.ofReadiness("broker_idp", identity::fault),
                        Check.ofReadiness("config", () -> configurationFault(issuers)),
                        Check.ofReadiness("memory", this::memoryFault));
    }

    /** The checks that {@code GET /health} shows to clients. */
    List<HealthCheck> health() {
        return health;
    }

    /**
     * What the platform asks for: readiness, which is all that clients may know and whether the
     * broker is stopping, and liveness, which is that no background thread has died.
     */
    List<HealthCheck> ofPlatform(BooleanSupplier stopping) {
        List<HealthCheck> checks = new ArrayList<>(health);
        checks.add(Check.ofReadiness("stopping", () -> stoppingFault(stopping)));
        checks.addAll(Check.ofThreads());
        return checks;
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
