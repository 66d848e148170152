package io.mintmark.mint;

import io.mintmark.mint.MintResult.Failed;
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

    /** It might still work. The provider can't end others now either. */
    record NotYet(Reason reason, String detail) implements Ended {}

    /** It might still work. The provider answered, and may well end others now. */
    record Stuck(Reason reason, String detail) implements Ended {}

    /** Of a call that failed. */
    static Ended not(Failed why) {
        return switch (why.reason()) {
            case PROVIDER_REJECTED, PROVIDER_ERROR -> new Stuck(why.reason(), why.detail());
            case PROVIDER_TIMEOUT,
                    PROVIDER_UNREACHABLE,
                    PROVIDER_THROTTLED,
                    PROVIDER_MISCONFIGURED,
                    BROKER_IDENTITY_REJECTED ->
                    new NotYet(why.reason(), why.detail());
        };
    }
}
