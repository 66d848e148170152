package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Judges the times of the checkpoints that hold, in the order of their numbers. */
final class CheckpointTimes {
    /**
     * The maximum difference of clocks: the verifier's, and those of servers that replaced each
     * other.
     */
    private static final Duration SKEW = Duration.ofHours(1);

    private final Findings findings;
    private final Instant now;
    private Optional<Instant> last = Optional.empty();

    CheckpointTimes(Findings findings, Instant now) {
        this.findings = findings;
        this.now = now;
    }

    /**
     * Reports an unlikely time. A time in the future is not proof of tampering, because a clock may
     * have been wrong. But anyone with the service's login and the key can choose it.
     */
    void judge(Checkpoint checkpoint) {
        Instant at = checkpoint.sealedAt();
        Instant before = last.orElse(at);
        if (at.isAfter(now.plus(SKEW))) {
            findings.told(
                    "Checkpoint %d is dated %s, which is in the future"
                            .formatted(checkpoint.number(), at));
        } else if (before.isAfter(at.plus(SKEW)) && !before.isAfter(now.plus(SKEW))) {
            findings.told(
                    "Checkpoint dates go back: the checkpoint before number %d is dated %s, and number %d, which came later, is dated %s"
                            .formatted(checkpoint.number(), before, checkpoint.number(), at));
        }
    }

    /**
     * Takes the next checkpoint.
     *
     * @return when the checkpoint before it was made; a clock that was set back makes it earlier
     */
    Optional<Instant> add(Checkpoint checkpoint) {
        Instant at = checkpoint.sealedAt();
        Optional<Instant> before = last.map(time -> time.isBefore(at) ? time : at);
        last = Optional.of(at);
        return before;
    }

    /** The time of the last checkpoint; empty without any. */
    Optional<Instant> last() {
        return last;
    }
}
