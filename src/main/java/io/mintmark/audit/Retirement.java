package io.mintmark.audit;

import io.mintmark.audit.Checkpoint.RetiredMonth;

import java.time.YearMonth;
import java.util.List;
import java.util.Optional;

/** Removes old months from the log, and writes a checkpoint that describes them. */
public interface Retirement {

    /**
     * Retires all months before one, in one transaction with the checkpoint.
     *
     * @return the checkpoint; none if there is no such month
     * @throws StoreUnreachable if it could not be done, with the reason
     */
    Optional<SignedCheckpoint> retire(YearMonth before, Signer signer);

    /** Makes the checkpoint. */
    interface Signer {
        SignedCheckpoint sign(SealStore.Unsealed unsealed, List<RetiredMonth> months);
    }
}
