package io.mintmark.broker.notice;

/** Listens to what becomes of notices, for metrics; must neither block nor throw. */
@FunctionalInterface
public interface NoticeListener {

    /** The result of an attempt to send a notice. */
    enum Outcome {
        /** The receiver accepted the notice. */
        SENT,
        /** The receiver didn't accept the notice, which will be sent again. */
        FAILED,
        /** The receiver didn't accept the notice for days, and it won't be sent again. */
        DROPPED
    }

    /** A notice was tried. */
    void tried(Outcome outcome);
}
