package io.mintmark.token;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** All that is logged, at every level, while it is open. */
public final class LogBook extends Handler implements AutoCloseable {
    private final Logger root = LogManager.getLogManager().getLogger("");
    private final Level before = root.getLevel();
    private final SimpleFormatter formatter = new SimpleFormatter();
    private final List<String> lines = new CopyOnWriteArrayList<>();

    private LogBook() {}

    public static LogBook open() {
        LogBook book = new LogBook();
        book.setLevel(Level.ALL);
        book.root.setLevel(Level.ALL);
        book.root.addHandler(book);
        return book;
    }

    public String text() {
        return String.join("", lines);
    }

    @Override
    public void publish(LogRecord record) {
        lines.add(formatter.format(record));
    }

    @Override
    public void flush() {
        // nothing is held back
    }

    @Override
    public void close() {
        root.removeHandler(this);
        root.setLevel(before);
    }
}
