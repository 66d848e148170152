package io.mintmark.base.http.connection;

/** The part of a request's body that the server has yet to read. */
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
