package io.mintmark.auditor.reader;

/**
 * Limits how much of the sorted history a verification keeps in memory, depending on the size of
 * the heap. Mints of many tenants refer to many rows, and rows that aren't kept must be searched
 * for on disk again.
 */
final class CacheBounds {
    /** Bytes of the heap for each entry of a cache of places; an entry takes about 250. */
    private static final long BYTES_OF_PLACE = 8 * 1024;

    /** Bytes of the heap for each character of a parsed row, which takes about four. */
    private static final long BYTES_OF_CHARACTER = 40;

    private CacheBounds() {}

    /** The number of entries in one cache of positions. */
    static long places() {
        return Runtime.getRuntime().maxMemory() / BYTES_OF_PLACE;
    }

    /** The number of characters of parsed rows in memory. */
    static long characters() {
        return Runtime.getRuntime().maxMemory() / BYTES_OF_CHARACTER;
    }
}
