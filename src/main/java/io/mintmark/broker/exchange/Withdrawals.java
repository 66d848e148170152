package io.mintmark.broker.exchange;

import io.mintmark.base.verdict.AccessRefusal.KeysDenied;
import io.mintmark.base.verdict.AccessRefusal.WithdrawnAccess;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.approval.Person;

import java.util.List;

/**
 * Adds to the refusal of a mint that the subject's own access was withdrawn, and by whom. Only who
 * may request the key gets it, and nothing that its list of requests does not contain.
 */
public final class Withdrawals {
    private final Store store;

    /** Where requests for access are stored. */
    @FunctionalInterface
    public interface Store {
        /**
         * The access to each of these keys that a person was granted last, if it was withdrawn and
         * could have lasted until now. Returns nothing, and doesn't wait, if the database is busy
         * or fails.
         */
        List<WithdrawnAccess> withdrawn(Person who, List<String> keys);
    }

    Withdrawals(Store store) {
        this.store = store;
    }

    /** The refusal of a request, with what was withdrawn. */
    Refusal addTo(Refusal refusal, Verdict<Admitted> admitted) {
        return refusal instanceof KeysDenied denied
                        && !denied.requestableKeys().isEmpty()
                        && admitted instanceof Verdict.Passed<Admitted>(Admitted one)
                ? denied.after(
                        store.withdrawn(
                                Person.of(one.token(), one.actor()), denied.requestableKeys()))
                : refusal;
    }
}
