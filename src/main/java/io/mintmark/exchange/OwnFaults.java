package io.mintmark.exchange;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Rejections;
import io.mintmark.time.Clocks;
import io.mintmark.verdict.Unavailable;

import java.time.Duration;
import java.util.Optional;

/**
 * What is wrong with this replica and not with the database: its clock, or a dead writer of its
 * rows. While anything is, its check {@code database} fails and it hands out nothing, whoever asks:
 * not every client comes through a load balancer that looks at readiness.
 */
public final class OwnFaults {
    private static final Duration SOON = Duration.ofSeconds(5);

    private final Clocks clocks;
    private final AuditLog log;
    private final Rejections rejections;

    public OwnFaults(Clocks clocks, AuditLog log, Rejections rejections) {
        this.clocks = clocks;
        this.log = log;
        this.rejections = rejections;
    }

    /** What is wrong, in a sentence for strangers; nothing if nothing is. Asks nobody. */
    public Optional<String> find() {
        return clocks.fault().or(log::death).or(rejections::death);
    }

    /**
     * Lets a healthy replica go on.
     *
     * @throws Unavailable if anything is wrong
     */
    void requireNone() {
        find().ifPresent(fault -> {
            throw new Unavailable(
                    Unavailable.Part.REPLICA,
                    "Nothing can be minted: %s. Try again; another replica may answer."
                            .formatted(fault),
                    SOON);
        });
    }
}
