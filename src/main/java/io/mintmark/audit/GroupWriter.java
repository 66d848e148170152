package io.mintmark.audit;

import io.mintmark.tenant.TenantName;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

    /** Writes those that somebody still waits for, and tells each what became of it. */
    void write(List<Submission> group) {
        List<Submission> wanted = group.stream().filter(Submission::take).toList();
        if (!wanted.isEmpty()) {
            commit(wanted);
        }
    }

    private void commit(List<Submission> group) {
        List<Event> rows = new ArrayList<>();
        group.forEach(submission -> rows.addAll(submission.events()));
        try {
            store.append(rows);
        } catch (StoreUnreachable e) {
            group.forEach(submission -> submission.failed(e));
            return;
        } catch (RuntimeException e) {
            // refused, or something that can't even be put into a row
            refused(group, e);
            return;
        }
        tell(group, rows);
    }

    private void tell(List<Submission> group, List<Event> rows) {
        try {
            Receipt receipt = receipt(rows);
            group.forEach(submission -> submission.committed(receipt));
        } catch (RuntimeException e) {
            group.forEach(submission -> submission.failed(e));
        }
    }

    private Receipt receipt(List<Event> rows) {
        Set<TenantName> tenants =
                rows.stream()
                        .filter(event -> event.kind() == Kind.REQUESTED)
                        .flatMap(event -> event.holder().stream())
                        .flatMap(holder -> holder.tenant().stream())
                        .collect(Collectors.toSet());
        return new Receipt(tenants.isEmpty() ? Map.of() : revisions(tenants));
    }

    private Map<TenantName, Long> revisions(Set<TenantName> tenants) {
        try {
            return store.revisions(tenants);
        } catch (StoreUnreachable e) {
            throw new StoreUnreachable("the revision can't be read after the commit", true, e);
        }
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
