package io.mintmark.audit;

/** The store lost rows that it had confirmed, and takes no more until an operator knows of it. */
public final class UnacknowledgedLoss extends StoreUnreachable {
    private static final long serialVersionUID = 1L;

    /**
     * @param perhapsCommitted as in {@link StoreUnreachable}
     */
    public UnacknowledgedLoss(boolean perhapsCommitted) {
        super(
                "the database lost rows of the audit log or of the configuration's history, so"
                        + " nothing is handed out until an operator has acknowledged it (mintmark"
                        + " audit acknowledge-loss)",
                perhapsCommitted,
                null);
    }
}
