package io.mintmark.broker.exchange;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Rejections;
import io.mintmark.base.time.Clocks;
import io.mintmark.base.verdict.Unavailable;

import java.time.Duration;
import java.util.Optional;

/**
 * Faults of this replica rather than the database: its clock, a dead writer of audit rows, or rows
 * that it knows of and the database has lost. While there is one, the check {@code database} fails
 * and the replica mints nothing for any client, because not every client comes through a load
 * balancer that checks readiness.
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

    /** The fault, as a sentence for clients; empty if there is none. Doesn't query the database. */
    public Optional<String> find() {
        return clocks.fault().or(log::death).or(rejections::death).or(log::loss);
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
