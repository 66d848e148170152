package io.mintmark.auditor.verify;

import io.mintmark.audit.checkpoint.Checkpoint.Named;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.checkpoint.TrustedKeys;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Checkpoints of the log that no trusted key vouches for. They are reported after the last one,
 * unless they were disowned; where none of all checkpoints is of a trusted key, the keys are wrong,
 * and that is one finding.
 */
final class ForeignCheckpoints {
    /** The maximum number that is kept until all declarations are known. */
    private static final int MOST = 10_000;

    /** The number of key ids that are shown. */
    private static final int SHOWN = 5;

    private final List<Foreign> found = new ArrayList<>();
    private final Set<String> signers = new TreeSet<>();
    private long count;

    private record Foreign(Named checkpoint, String sentence) {}

    void add(SignedCheckpoint signed, String sentence) {
        count++;
        if (signers.size() < SHOWN && signed.signer().length() == SealingKeys.ID_LENGTH) {
            signers.add(signed.signer());
        }
        if (found.size() < MOST) {
            found.add(new Foreign(new Named(signed.number(), signed.hash()), sentence));
        }
    }

    /**
     * Takes a checkpoint if no trusted key signed it.
     *
     * @param sentence about its number and what is wrong with it
     */
    boolean takes(SignedCheckpoint signed, TrustedKeys keys, String sentence) {
        try {
            var _ = keys.open(signed);
            return false;
        } catch (IllegalArgumentException e) {
            add(signed, sentence.formatted(signed.number(), e.getMessage()));
            return true;
        }
    }

    /** Whether there are any that were not disowned. */
    boolean judge(Declarations declarations, Findings findings) {
        long disowned = 0;
        for (Foreign each : found) {
            if (declarations.name(each.checkpoint())) {
                disowned++;
            } else {
                findings.foreign(each.sentence());
            }
        }
        if (count > found.size()) {
            findings.foreign(
                    "%d more checkpoints aren't signed by a trusted key"
                            .formatted(count - found.size()));
        }
        return count > disowned;
    }

    /** Reports, once, that some of the checkpoints that were kept are another broker's. */
    void tell(TrustedKeys keys, Findings findings) {
        if (count > 0) {
            findings.told(
                    "%d of the checkpoints kept elsewhere are signed by keys that are not trusted (%s), so they are another broker's and were left out. Keys that are trusted now: %s. If a key of the left-out checkpoints is this broker's, trust that key too"
                            .formatted(
                                    count,
                                    signers.isEmpty() ? "no key" : String.join(", ", signers),
                                    String.join(", ", keys.ids())));
        }
    }

    /** Reports that no checkpoint at all is of a trusted key. */
    void judgeKeys(TrustedKeys keys, Findings findings) {
        findings.wrong(
                ("None of the %d checkpoints is signed by a trusted key, so nothing is proven."
                                + " Trusted: %s. The checkpoints name: %s")
                        .formatted(
                                count,
                                String.join(", ", keys.ids()),
                                signers.isEmpty() ? "no key" : String.join(", ", signers)));
    }

    long count() {
        return count;
    }
}
