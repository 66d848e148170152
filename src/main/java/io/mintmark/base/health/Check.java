package io.mintmark.base.health;

import io.helidon.health.HealthCheck;
import io.helidon.health.HealthCheckResponse;
import io.helidon.health.HealthCheckType;
import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;
import io.mintmark.base.verdict.Unavailable;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A check of something that a process needs in order to serve (readiness), or without which only a
 * restart helps (liveness).
 *
 * @param name as the health report shows it
 * @param fault what is wrong, as a sentence that clients may read; empty if nothing is
 */
public record Check(HealthCheckType type, String name, Supplier<Optional<String>> fault)
        implements HealthCheck {
    static final String ERROR = "error";

    private static final Logger log = LoggerFactory.getLogger(Check.class);

    /** A check of what a process needs in order to serve. */
    public static Check ofReadiness(String name, Supplier<Optional<String>> fault) {
        return new Check(HealthCheckType.READINESS, name, fault);
    }

    /** A check of what only a restart mends. */
    public static Check ofLiveness(String name, Supplier<Optional<String>> fault) {
        return new Check(HealthCheckType.LIVENESS, name, fault);
    }

    /** Checks of liveness, that no background thread has died. */
    public static List<Check> ofThreads() {
        return Stream.of(ThreadName.values())
                .map(name -> ofLiveness(name.toString(), () -> BackgroundThread.fault(name)))
                .toList();
    }

    @Override
    public HealthCheckResponse call() {
        Optional<String> found = find();
        return found.map(error ->
                        HealthCheckResponse.builder()
                                .status(HealthCheckResponse.Status.DOWN)
                                .detail(ERROR, error))
                .orElseGet(
                        () -> HealthCheckResponse.builder().status(HealthCheckResponse.Status.UP))
                .build();
    }

    private Optional<String> find() {
        try {
            return fault.get();
        } catch (Unavailable e) {
            return Optional.ofNullable(e.getMessage());
        } catch (RuntimeException e) {
            log.error("The health check '{}' failed with an exception", name, e);
            return Optional.of("the check failed with an error; the log has the reason");
        }
    }
}
