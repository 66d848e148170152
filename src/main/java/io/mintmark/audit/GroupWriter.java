package io.mintmark.audit;

import io.mintmark.base.tenant.TenantName;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Commits many submissions at once. A submission that the store rejects doesn't affect the others.
 */
final class GroupWriter {
    private final EventStore store;

    GroupWriter(EventStore store) {
        this.store = store;
    }

    /** Writes the submissions that still have a waiting request, and completes each. */
    void write(List<Submission> group) {
        List<Submission> wanted = group.stream().filter(Submission::take).toList();
        try {
            Halving.commit(wanted, this::commit, Submission::failed);
        } catch (Error e) {
            // the writer dies, and no request needs to wait for the commit
            var died =
                    new StoreUnreachable(
                            "the thread that writes the audit log died; restart this replica",
                            true,
                            e);
            wanted.forEach(submission -> submission.failed(died));
            throw e;
        }
    }

    private void commit(List<Submission> group) {
        long began = System.nanoTime();
        try {
            Receipt receipt = new Receipt(store.append(events(group), tenants(group)), began);
            group.forEach(submission -> submission.committed(receipt));
        } catch (StoreUnreachable e) {
            group.forEach(submission -> submission.failed(e));
        }
    }

    private static List<Event> events(List<Submission> group) {
        return group.stream().flatMap(each -> each.events().stream()).toList();
    }

    /** Only tenants whose intent was recorded need the state. */
    private static Set<TenantName> tenants(List<Submission> group) {
        return group.stream()
                .filter(Submission::hasIntent)
                .flatMap(intent -> intent.events().stream())
                .flatMap(event -> event.subject().stream())
                .flatMap(subject -> subject.tenant().stream())
                .collect(Collectors.toSet());
    }
}
