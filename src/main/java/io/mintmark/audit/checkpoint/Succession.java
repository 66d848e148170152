package io.mintmark.audit.checkpoint;

import io.mintmark.audit.checkpoint.SealStore.Unsealed;

import java.util.Optional;

/**
 * Decides whether a replica's keys may seal the log. They may not after a checkpoint of a key that
 * they did not announce: then another replica was started with a new key because these are lost, or
 * somebody forged the checkpoint. Sealing on would let the lost key speak for the log again.
 */
final class Succession {
    private final TrustedKeys trusted;

    /**
     * Whether these keys may replace the key of the last checkpoint; false once one of them has
     * sealed.
     */
    private boolean mayReplace;

    /** The newest checkpoint of the last look; 0 in an empty log, and negative before any look. */
    private long examined = -1;

    /**
     * @param mayReplace whether the operator says that the key of the last checkpoint is lost
     */
    Succession(SealingKeys keys, boolean mayReplace) {
        this.trusted = new TrustedKeys(keys.published());
        this.mayReplace = mayReplace;
    }

    /** The keys must not seal the log, because another key has replaced them. */
    static final class Replaced extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        private Replaced(SignedCheckpoint last) {
            super(
                    "This replica no longer seals the audit log: checkpoint %d was signed by the key %s, which none of this replica's keys announced. If the old key is lost, restart the replica with the new AUDIT_SIGNING_KEY_FILE; if no broker wrote the checkpoint, run mintmark audit disown-checkpoint %d"
                            .formatted(last.number(), last.signer(), last.number()));
        }
    }

    /**
     * Requires that these keys may sign the next checkpoint.
     *
     * @throws Replaced if they may not
     */
    void require(Unsealed unsealed) {
        Optional<SignedCheckpoint> last = unsealed.last();
        if (last.isEmpty()) {
            examined = 0;
        } else if (!isNext(unsealed, last.get())) {
            throw new Replaced(last.get());
        }
    }

    private boolean isNext(Unsealed unsealed, SignedCheckpoint last) {
        if (examined >= 0 && last.number() > examined) {
            unsealed.announcements().after(examined).forEach(trusted::fault);
        } else {
            var _ = trusted.fault(last);
        }
        examined = last.number();
        if (trusted.ids().contains(last.signer())) {
            mayReplace = false;
            return true;
        }
        return mayReplace;
    }
}
