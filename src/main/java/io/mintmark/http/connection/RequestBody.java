package io.mintmark.http.connection;

/** How much of a request's body the server has still to take. */
final class RequestBody {
    private static final long UNTIL_LAST_CHUNK = -1;

    private final boolean isPromised;
    private long left;

    private RequestBody(long left, boolean isPromised) {
        this.left = left;
        this.isPromised = isPromised;
    }

    static RequestBody none() {
        return new RequestBody(0, true);
    }

    /**
     * @param isPromised whether the client sends it without being asked to, with {@code 100}
     */
    static RequestBody ofLength(long bytes, boolean isPromised) {
        return new RequestBody(bytes, isPromised);
    }

    static RequestBody ofChunks() {
        return new RequestBody(UNTIL_LAST_CHUNK, true);
    }

    void taken(int bytes) {
        if (left > 0) {
            left -= bytes;
        }
    }

    void lastChunkTaken() {
        left = 0;
    }

    /** Whether the rest has arrived with what was received beyond what was taken. */
    boolean isWithin(int received) {
        boolean isKnown = left != UNTIL_LAST_CHUNK && isPromised;
        return left == 0 || (isKnown && left <= received);
    }
}
