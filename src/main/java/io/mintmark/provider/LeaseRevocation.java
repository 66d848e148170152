package io.mintmark.provider;

import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;

/** The result of ending a mint. Every detail is free of secrets. */
public sealed interface LeaseRevocation {
    /** The details for the audit log and the log. */
    String detail();

    /** The credential is revoked, and nothing is left at the provider. */
    record Gone(String detail) implements LeaseRevocation {}

    /**
     * The credential doesn't work any more, but something is left at the provider.
     *
     * @param detail what is left
     */
    record Disarmed(String detail) implements LeaseRevocation {}

    /** The credential might still work. The provider can't end other credentials now either. */
    record NotYet(Reason reason, String detail) implements LeaseRevocation {}

    /**
     * The credential might still work. The provider answered, and may well end other credentials
     * now.
     */
    record Stuck(Reason reason, String detail) implements LeaseRevocation {}

    /** The result of a call that failed. */
    static LeaseRevocation not(Failed why) {
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
