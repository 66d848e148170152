package io.mintmark.broker.exchange;

import io.mintmark.audit.Event;
import io.mintmark.audit.EventStore;
import io.mintmark.audit.Kind;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * An audit log kept in memory. It can be made to break off at a row, before or after that row is
 * written, and to let something happen while a row is being written.
 */
final class MemoryLog implements EventStore {
    private final List<Event> rows = new ArrayList<>();
    private final MemoryTenant tenant;
    private Predicate<Event> gone = _ -> false;
    private boolean writesBeforeItBreaks;
    private int refused;
    private Consumer<Event> meanwhile = _ -> {};

    MemoryLog(MemoryTenant tenant) {
        this.tenant = tenant;
    }

    /** From now on rows of these kinds can't be written. */
    synchronized void refuse(Kind... kinds) {
        gone = event -> List.of(kinds).contains(event.kind());
        writesBeforeItBreaks = false;
    }

    /** From now on rows of this kind are written, and nobody hears of it. */
    synchronized void breakAfter(Kind kind) {
        refuse(kind);
        writesBeforeItBreaks = true;
    }

    /** Everything works again. */
    synchronized void recover() {
        gone = _ -> false;
    }

    /** Happens with each row that is written. */
    synchronized void meanwhile(Consumer<Event> happens) {
        meanwhile = happens;
    }

    @Override
    public synchronized Map<TenantName, TenantState> append(
            List<Event> events, Set<TenantName> tenants) {
        boolean breaks = events.stream().anyMatch(gone);
        if (!breaks || writesBeforeItBreaks) {
            events.stream().filter(this::isNew).forEach(rows::add);
            events.forEach(meanwhile);
        }
        if (breaks) {
            refused++;
            throw new StoreUnreachable("gone for the test", writesBeforeItBreaks, null);
        }
        return Map.of(MemoryTenant.NAME, tenant.wholeState());
    }

    private boolean isNew(Event event) {
        return rows.stream()
                .noneMatch(row ->
                        row.mintId().equals(event.mintId())
                                && row.kind().step() == event.kind().step());
    }

    @Override
    public void rehearse() {}

    @Override
    public void check() {}

    @Override
    public synchronized Set<MintId> known(Collection<MintId> mints) {
        return rows.stream()
                .map(Event::mintId)
                .filter(mints::contains)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** How often rows could not be written. */
    synchronized int refused() {
        return refused;
    }

    /** Kind, key and reason of each row, in their order. */
    synchronized List<String> rows() {
        return rows.stream()
                .map(row ->
                        "%s %s %s"
                                .formatted(
                                        row.kind().word(),
                                        row.key().map(Object::toString).orElse(""),
                                        row.reason().orElse(""))
                                .strip())
                .toList();
    }

    /** The rows themselves. */
    synchronized List<Event> events() {
        return List.copyOf(rows);
    }
}
