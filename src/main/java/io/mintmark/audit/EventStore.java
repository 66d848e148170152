package io.mintmark.audit;

import io.mintmark.tenant.MintId;
import io.mintmark.tenant.TenantName;
import io.mintmark.tenant.TenantState;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Where the rows go: a database that refuses to change or remove them. */
public interface EventStore {

    /**
     * Commits the rows in one transaction, all or none, to disk.
     *
     * @throws EventRefused if the store won't take one of the rows, now or later
     * @throws StoreUnreachable if the store can't be asked, or didn't answer in time
     */
    void append(List<Event> events);

    /**
     * The state of each tenant's configuration now.
     *
     * @throws StoreUnreachable if the store can't be asked, or didn't answer in time
     */
    Map<TenantName, TenantState> states(Collection<TenantName> tenants);

    /**
     * Writes rows such as every mint has and takes them back, so that nothing stays of them.
     *
     * @throws EventRefused if rows like these won't be taken
     * @throws StoreUnreachable if the store can't be asked, or didn't answer in time
     */
    void rehearse();

    /**
     * Those of the mints of which there is any row.
     *
     * @throws StoreUnreachable if the store can't be asked, or didn't answer in time
     */
    Set<MintId> known(Collection<MintId> mints);
}
