package io.mintmark.auditor.reader;

/**
 * How much of the sorted history a verification keeps in memory, from the size of the heap. Mints
 * of many tenants rest on many rows, and what isn't kept is searched for on disk again.
 */
final class CacheBounds {
    /** Bytes of the heap for each entry of a cache of places; an entry takes about 250. */
    private static final long BYTES_OF_PLACE = 8 * 1024;

    /** Bytes of the heap for each character of a parsed row, which takes about four. */
    private static final long BYTES_OF_CHARACTER = 40;

    private CacheBounds() {}

    /** Entries of one cache of places in the history. */
    static long places() {
        return Runtime.getRuntime().maxMemory() / BYTES_OF_PLACE;
    }

    /** Characters of parsed rows. */
    static long characters() {
        return Runtime.getRuntime().maxMemory() / BYTES_OF_CHARACTER;
    }
}
