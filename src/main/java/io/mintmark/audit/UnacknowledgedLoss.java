package io.mintmark.audit;

/**
 * The store lost rows that it had confirmed, and accepts no more until an operator acknowledges the
 * loss.
 */
public final class UnacknowledgedLoss extends StoreUnreachable {
    private static final long serialVersionUID = 1L;

    /**
     * @param perhapsCommitted as in {@link StoreUnreachable}
     */
    public UnacknowledgedLoss(boolean perhapsCommitted) {
        super(
                "the database lost rows of the audit log or of the configuration's history, so no"
                        + " credential is returned until an operator acknowledges the loss"
                        + " (mintmark audit acknowledge-loss)",
                perhapsCommitted,
                null);
    }
}
