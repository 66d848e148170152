package io.mintmark.broker.grant;

/**
 * How much of the heap the catalogue may take, in bytes. Sizes of snapshots are estimates. {@code
 * RowWeightTest} measures that snapshots take no more.
 *
 * <p>A tenant's share is an eighth of all. Of its sixteen parts nine are for what is kept, six for
 * what a reader has read when it replaces a snapshot, and one for a second reader of something
 * small. All together: two quarters are for snapshots of tenants, one for grants of subjects, and
 * the last one for what is being read, by at most {@link TenantReaders#LARGE} readers of something
 * large and by the readers of something small, which are as many as connections.
 *
 * @param heap the largest size of the heap
 */
public record CatalogueMemory(long heap) {
    private static final int QUARTER = 4;
    private static final int TENANTS = 8;
    private static final int PARTS = 16;
    private static final int KEPT_PARTS = 9;
    private static final int LARGE_PARTS = 6;

    /** Of the heap that this process may have. */
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
