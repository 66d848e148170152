package io.mintmark.audit;

import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A store in memory whose commits take as long as a test wants them to, and fail when it wants. */
final class GatedStore implements EventStore {
    private final List<List<Event>> commits = new CopyOnWriteArrayList<>();
    private final Semaphore gate = new Semaphore(0);
    private final Semaphore arrived = new Semaphore(0);
    private volatile boolean gone;
    private volatile boolean refusesAll;
    private volatile boolean forgetful;

    /** Commits take no time from now on. */
    GatedStore open() {
        gate.release(1_000_000);
        return this;
    }

    /** Lets one commit through. */
    void letOneThrough() {
        gate.release();
    }

    /** Returns when a commit has begun. */
    void awaitCommit() {
        arrived.acquireUninterruptibly();
    }

    void gone(boolean now) {
        gone = now;
    }

    /** Refuses rows, whatever they are, as a table does that lacks its partition. */
    void refusesAll(boolean now) {
        refusesAll = now;
    }

    /** Commits, but can't be asked for states. */
    void forgetful(boolean now) {
        forgetful = now;
    }

    List<List<Event>> commits() {
        return commits;
    }

    Stream<Event> rows() {
        return commits.stream().flatMap(List::stream);
    }

    @Override
    public Map<TenantName, TenantState> append(List<Event> events, Set<TenantName> tenants) {
        arrived.release();
        gate.acquireUninterruptibly();
        if (gone) {
            throw new StoreUnreachable("gone", false, null);
        }
        if (refusesAll || events.stream().anyMatch(Rows::isBad)) {
            throw new EventRefused("bad", new IllegalArgumentException());
        }
        if (events.stream().anyMatch(Rows::isFatal)) {
            throw new StackOverflowError("for the test");
        }
        if (events.stream().anyMatch(Rows::isImpossible)) {
            throw new ArithmeticException("no such time");
        }
        commits.add(List.copyOf(events));
        if (forgetful) {
            throw new StoreUnreachable("gone after the commit", true, null);
        }
        return Map.of();
    }

    @Override
    public void rehearse() {
        if (gone) {
            throw new StoreUnreachable("gone", false, null);
        }
        if (refusesAll) {
            throw new EventRefused("full", new IllegalStateException());
        }
    }

    @Override
    public void check() {}

    @Override
    public Set<MintId> known(Collection<MintId> mints) {
        if (gone) {
            throw new StoreUnreachable("gone", false, null);
        }
        return rows().map(Event::mintId)
                .filter(mints::contains)
                .collect(Collectors.toUnmodifiableSet());
    }
}
