package io.mintmark.broker.grant;

/**
 * Limits the part of the heap that the catalogue takes, in bytes. Sizes of snapshots are estimates;
 * {@code RowWeightTest} verifies that snapshots take no more.
 *
 * <p>A tenant's share is an eighth of the whole. A share has sixteen parts: nine are for the
 * snapshots that are kept, six for the data that a reader has read when it replaces a snapshot, and
 * one for a second reader of something small. Of the whole, two quarters are for snapshots of
 * tenants, one is for grants of subjects, and the last one is for data that is being read. At most
 * {@link TenantReaders#LARGE} readers read something large at a time; readers of something small
 * are as many as connections.
 *
 * @param heap the largest size of the heap
 */
public record CatalogueMemory(long heap) {
    private static final int QUARTER = 4;
    private static final int TENANTS = 8;
    private static final int PARTS = 16;
    private static final int KEPT_PARTS = 9;
    private static final int LARGE_PARTS = 6;

    /** The memory for the largest heap that this process may have. */
    public static CatalogueMemory ofProcess() {
        return new CatalogueMemory(Runtime.getRuntime().maxMemory());
    }

    private long all() {
        return heap / QUARTER;
    }

    private long parts(int parts) {
        return all() / TENANTS * parts / PARTS;
    }

    /** The maximum weight of all tenants' snapshots. */
    long tenants() {
        return all() / 2;
    }

    /** The maximum weight of all subjects' grants. */
    long subjects() {
        return all() / QUARTER;
    }

    /** The maximum weight of one tenant: its snapshot and the grants of its subjects. */
    long keptOfTenant() {
        return parts(KEPT_PARTS);
    }

    /** The maximum weight of one snapshot, or of one subject's grants. */
    public long large() {
        return parts(LARGE_PARTS);
    }

    /** The maximum weight of a read that doesn't wait for other large reads. */
    long small() {
        return parts(1);
    }
}
