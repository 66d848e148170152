package io.mintmark.base.thread;

import java.util.Locale;

/**
 * Every background thread that a process may have, in the order of {@code
 * docs/internals/architecture.md}, which a test compares. Liveness has a check for each, and the
 * metrics a label.
 */
public enum ThreadName {
    AUDIT_WRITER,
    AUDIT_REJECTIONS,
    AUDIT_SEALER,
    WITNESSES,
    CATALOGUE_POLLING,
    HOUSEKEEPING,
    ENDINGS,
    NOTICES,
    LAPSES,
    SIGNING_KEYS,
    CERTIFICATES,
    BROKER_TOKEN,
    IDLE_CONNECTIONS,
    STS_TIMER,
    TIMEOUTS,
    CONNECTION_DEADLINES,
    CARRIER_THREADS;

    /** The name in thread dumps, health checks and metrics, for example {@code audit-writer}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
