package io.mintmark.mint;

import io.mintmark.verdict.MintRefusal.Reason;

/** What came of ending a mint. Every detail is free of secrets. */
public sealed interface Ended {
    /** For the audit log and the log. */
    String detail();

    /** Nothing is left at the provider. */
    record Gone(String detail) implements Ended {}

    /**
     * Nothing works any more, but something is left.
     *
     * @param detail what is left
     */
    record Disarmed(String detail) implements Ended {}

    /** It might still work; to be tried again. */
    record NotYet(Reason reason, String detail) implements Ended {}
}
