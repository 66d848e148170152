package io.mintmark.broker.lease;

/** Receives the result of each attempt to end a mint. */
@FunctionalInterface
public interface LeaseListener {
    /** The result of an attempt to revoke. */
    enum Result {
        GONE,
        DISARMED,
        NOT_YET
    }

    /**
     * A mint was tried.
     *
     * @param type of its access provider
     */
    void tried(String type, Result result);
}
