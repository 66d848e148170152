package io.mintmark.audit;

import io.mintmark.tenant.TenantName;
import io.mintmark.tenant.TenantState;

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
        try {
            if (!wanted.isEmpty()) {
                commit(wanted);
            }
        } catch (Error e) {
            // the writer dies of it, and nobody need wait for that
            var died = new StoreUnreachable("the audit log's writer died", true, e);
            wanted.forEach(submission -> submission.failed(died));
            throw e;
        }
    }

    private void commit(List<Submission> group) {
        try {
            store.append(group.stream().flatMap(each -> each.events().stream()).toList());
        } catch (StoreUnreachable e) {
            group.forEach(submission -> submission.failed(e));
            return;
        } catch (RuntimeException e) {
            // refused, or something that can't even be put into a row
            refused(group, e);
            return;
        }
        tell(group);
    }

    /** Only those that recorded an intent need the state, and learn of it if it can't be read. */
    private void tell(List<Submission> group) {
        Map<Boolean, List<Submission>> byIntent =
                group.stream().collect(Collectors.partitioningBy(Submission::hasIntent));
        byIntent.getOrDefault(false, List.of())
                .forEach(outcome -> outcome.committed(new Receipt(Map.of())));
        List<Submission> intents = byIntent.getOrDefault(true, List.of());
        try {
            Receipt receipt = receipt(intents);
            intents.forEach(intent -> intent.committed(receipt));
        } catch (RuntimeException e) {
            intents.forEach(intent -> intent.failed(e));
        }
    }

    private Receipt receipt(List<Submission> intents) {
        Set<TenantName> tenants =
                intents.stream()
                        .flatMap(intent -> intent.events().stream())
                        .flatMap(event -> event.subject().stream())
                        .flatMap(subject -> subject.tenant().stream())
                        .collect(Collectors.toSet());
        return new Receipt(tenants.isEmpty() ? Map.of() : states(tenants));
    }

    private Map<TenantName, TenantState> states(Set<TenantName> tenants) {
        try {
            return store.states(tenants);
        } catch (StoreUnreachable e) {
            throw new StoreUnreachable(
                    "the state of the configuration can't be read after the commit", true, e);
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
