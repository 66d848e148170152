package io.mintmark.audit;

/** The store lost rows that it had confirmed, and takes no more until an operator knows of it. */
public final class UnacknowledgedLoss extends StoreUnreachable {
    private static final long serialVersionUID = 1L;

    public UnacknowledgedLoss() {
        super(
                "rows of the audit log were lost, so nothing is handed out until an operator has"
                        + " acknowledged it (mintmark audit acknowledge-loss)",
                false,
                null);
    }
}
