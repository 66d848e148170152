package io.mintmark.provider;

import io.mintmark.base.outbound.NotSent;

/** The decision behind an order was overtaken, or may have been, so nothing more is sent for it. */
public final class OutdatedDecision extends NotSent {
    private static final long serialVersionUID = 1L;

    private final MintResult.NotCalled.Why why;

    /**
     * @param message for the audit log and the log
     */
    public OutdatedDecision(MintResult.NotCalled.Why why, String message) {
        super(message);
        this.why = why;
    }

    MintResult.NotCalled result() {
        return new MintResult.NotCalled(why, String.valueOf(getMessage()));
    }
}
