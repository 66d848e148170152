package io.mintmark.exchange;

import io.mintmark.audit.Event.Credential;
import io.mintmark.outbound.Secret;
import io.mintmark.verdict.MintRefusal;

import java.util.Map;

/** What came of one order. */
sealed interface Outcome {
    /** The {@code reason} of {@link NotCalled} in the audit log. */
    String TENANT_BUSY = "tenant_busy";

    /**
     * A credential as it was asked for.
     *
     * @param members as the answer will show them
     */
    record Obtained(Credential note, Map<String, Secret> members) implements Outcome {}

    /** A credential that must not leave. */
    record Unfit(Credential note, MintRefusal.Reason reason, String detail) implements Outcome {}

    /** No credential. */
    record Lost(MintRefusal.Reason reason, String detail) implements Outcome {}

    /** Nobody was asked, because the tenant has too much under way. */
    record NotCalled(String detail) implements Outcome {}
}
