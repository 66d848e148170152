package io.mintmark.base.logging;

import org.slf4j.MDC;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.logging.ErrorManager;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/**
 * Writes each record at once. Only writing excludes other threads, so a record that takes long to
 * format delays no other.
 */
final class LineHandler extends Handler {
    private final OutputStream destination;
    private final LibraryFailures failures = new LibraryFailures();
    private final ReentrantLock writing = new ReentrantLock();

    LineHandler(OutputStream destination, Formatter formatter) {
        this.destination = destination;
        setFormatter(formatter);
        setLevel(Level.ALL);
    }

    @Override
    public void publish(LogRecord record) {
        if (!isLoggable(record)) {
            return;
        }
        for (LogRecord summary : failures.summaries(record.getInstant())) {
            writeOfNoRequest(summary);
        }
        if (Logging.isOurs(record.getLoggerName()) || failures.admits(record)) {
            write(record);
        }
    }

    /** Writes a line about many requests, without the context of this thread's request. */
    private void writeOfNoRequest(LogRecord record) {
        Map<String, String> context = MDC.getCopyOfContextMap();
        MDC.clear();
        try {
            write(record);
        } finally {
            if (context != null) {
                MDC.setContextMap(context);
            }
        }
    }

    private void write(LogRecord record) {
        byte[] line;
        try {
            line = getFormatter().format(record).getBytes(StandardCharsets.UTF_8);
        } catch (RuntimeException e) {
            reportError(null, e, ErrorManager.FORMAT_FAILURE);
            return;
        }
        writing.lock();
        try {
            destination.write(line);
            destination.flush();
        } catch (IOException e) {
            reportError(null, e, ErrorManager.WRITE_FAILURE);
        } finally {
            writing.unlock();
        }
    }

    /** Every record is written when it is published. */
    @Override
    public void flush() {
        // nothing is kept back
    }

    /** The destination is the process's own. */
    @Override
    public void close() {
        // nothing is held
    }
}
