package io.mintmark.base.logging;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.logging.LogRecord;

/**
 * Limits what libraries log with a stack trace, because clients may be able to cause it at any
 * rate: one line a minute for each kind, and then one line with the number of those left out. A
 * kind is a logger and the classes that were thrown. Judges by the records' own time.
 */
final class LibraryFailures {
    static final Duration PERIOD = Duration.ofMinutes(1);

    /** The maximum number of kinds of failures. All further kinds share the last entry. */
    static final int MOST_KINDS = 64;

    private static final int MOST_CAUSES = 4;
    private static final String OTHERS = "others";

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Period> periods = new HashMap<>();

    /** The time at which the next period ends. Before it, log lines don't wait for each other. */
    private volatile Instant nextEnd = Instant.MAX;

    /** The failures of a kind since its last line. */
    private static final class Period {
        private final LogRecord written;
        private long omitted;

        Period(LogRecord written) {
            this.written = written;
        }

        Instant end() {
            return written.getInstant().plus(PERIOD);
        }

        LogRecord summary(Instant time) {
            LogRecord summary =
                    new LogRecord(
                            written.getLevel(),
                            "%d more messages like this since %s: %s, %s"
                                    .formatted(
                                            omitted,
                                            written.getInstant(),
                                            written.getMessage(),
                                            written.getThrown().getClass().getName()));
            summary.setLoggerName(written.getLoggerName());
            summary.setInstant(time);
            return summary;
        }
    }

    /**
     * Decides about a record of a library.
     *
     * @return whether to write it
     */
    boolean admits(LogRecord record) {
        if (record.getThrown() == null) {
            return true;
        }
        String kind = kind(record);
        lock.lock();
        try {
            String known =
                    periods.containsKey(kind) || periods.size() < MOST_KINDS - 1 ? kind : OTHERS;
            Period period = periods.putIfAbsent(known, new Period(record));
            if (period == null) {
                noteNextEnd();
                return true;
            }
            period.omitted++;
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the periods that are over, with a record for each that left something out. */
    List<LogRecord> summaries(Instant time) {
        if (time.isBefore(nextEnd)) {
            return List.of();
        }
        lock.lock();
        try {
            List<LogRecord> summaries = new ArrayList<>();
            for (Iterator<Period> each = periods.values().iterator(); each.hasNext(); ) {
                Period period = each.next();
                if (!time.isBefore(period.end())) {
                    each.remove();
                    if (period.omitted > 0) {
                        summaries.add(period.summary(time));
                    }
                }
            }
            noteNextEnd();
            return summaries;
        } finally {
            lock.unlock();
        }
    }

    private void noteNextEnd() {
        nextEnd =
                periods.values().stream()
                        .map(Period::end)
                        .min(Comparator.naturalOrder())
                        .orElse(Instant.MAX);
    }

    private static String kind(LogRecord record) {
        StringBuilder kind = new StringBuilder(String.valueOf(record.getLoggerName()));
        @Nullable Throwable thrown = record.getThrown();
        for (int i = 0; i < MOST_CAUSES && thrown != null; i++) {
            kind.append(' ').append(thrown.getClass().getName());
            thrown = thrown.getCause();
        }
        return kind.toString();
    }
}
