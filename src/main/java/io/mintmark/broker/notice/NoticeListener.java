package io.mintmark.broker.notice;

/** Listens to what becomes of notices, for metrics; must neither block nor throw. */
@FunctionalInterface
public interface NoticeListener {

    /** The result of an attempt to send a notice. */
    enum Outcome {
        /** Its receiver took it. */
        SENT,
        /** Its receiver didn't; it is tried again. */
        FAILED,
        /** Its receiver didn't for days, and it isn't tried any more. */
        DROPPED
    }

    /** A notice was tried. */
    void tried(Outcome outcome);
}
