package io.mintmark.audit;

import io.mintmark.tenant.MintId;
import io.mintmark.tenant.TenantName;

import java.util.Collection;
import java.util.List;
import java.util.Map;

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
     * The revision of each tenant's configuration, as of now.
     *
     * @throws StoreUnreachable if the store can't be asked, or didn't answer in time
     */
    Map<TenantName, Long> revisions(Collection<TenantName> tenants);

    /**
     * Whether there is any row of a mint.
     *
     * @throws StoreUnreachable if the store can't be asked, or didn't answer in time
     */
    boolean has(MintId mint);
}
