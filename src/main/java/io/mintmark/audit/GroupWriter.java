package io.mintmark.audit;

import io.mintmark.tenant.TenantName;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Commits many submissions at once. A row that the store refuses takes no other submission along:
 * the group is halved until the refused one stands alone.
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
            if (!wanted.isEmpty()) {
                commit(wanted);
            }
        } catch (Error e) {
            // the writer dies of it, and no request needs to wait for that
            var died = new StoreUnreachable("the audit log's writer died", true, e);
            wanted.forEach(submission -> submission.failed(died));
            throw e;
        }
    }

    private void commit(List<Submission> group) {
        Receipt receipt;
        long began = System.nanoTime();
        try {
            receipt = new Receipt(store.append(events(group), tenants(group)), began);
        } catch (StoreUnreachable e) {
            group.forEach(submission -> submission.failed(e));
            return;
        } catch (RuntimeException e) {
            // refused, or something that can't even be put into a row
            refused(group, e);
            return;
        }
        group.forEach(submission -> submission.committed(receipt));
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

    private void refused(List<Submission> group, RuntimeException cause) {
        if (group.size() == 1) {
            group.getFirst().failed(cause);
            return;
        }
        int half = group.size() / 2;
        commit(group.subList(0, half));
        commit(group.subList(half, group.size()));
    }
}
