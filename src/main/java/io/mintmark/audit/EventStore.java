package io.mintmark.audit;

import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The store of the rows: a database that refuses to change or remove them. */
public interface EventStore {

    /**
     * Commits the rows in one transaction, all or none, to disk.
     *
     * @param tenants whose states are asked for; maybe none
     * @return the state of each tenant's configuration, read after the commit
     * @throws EventRefused if the store won't take one of the rows, now or later
     * @throws StoreUnreachable if the store can't be asked, or didn't answer in time; also where
     *     the rows are committed and only the states can't be read
     */
    Map<TenantName, TenantState> append(List<Event> events, Set<TenantName> tenants);

    /** Commits rows without reading the state of any tenant; see {@link #append(List, Set)}. */
    default void append(List<Event> events) {
        var _ = append(events, Set.of());
    }

    /**
     * Writes rows such as every mint has and takes them back, so that nothing stays of them.
     *
     * @throws EventRefused if rows like these won't be taken
     * @throws StoreUnreachable if the store can't be asked, or didn't answer in time
     */
    void rehearse();

    /**
     * Finds out whether the store still has the last row that it confirmed, without writing.
     *
     * @throws StoreUnreachable if it can't be asked; {@link UnacknowledgedLoss} if rows were lost,
     *     here or elsewhere, and nobody has acknowledged it
     */
    void check();

    /**
     * Returns the mints that have a row.
     *
     * @throws StoreUnreachable if the store can't be asked, or didn't answer in time
     */
    Set<MintId> known(Collection<MintId> mints);
}
