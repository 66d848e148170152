package io.mintmark.base.http.connection;

/** How much of a request's body the server has still to take. */
final class RequestBody {
    private long left;

    private RequestBody(long left) {
        this.left = left;
    }

    static RequestBody none() {
        return new RequestBody(0);
    }

    static RequestBody ofLength(long bytes) {
        return new RequestBody(bytes);
    }

    void taken(int bytes) {
        left -= bytes;
    }

    /** Whether the rest has arrived with what was received beyond what was taken. */
    boolean isWithin(int received) {
        return left <= received;
    }
}
