package io.mintmark.broker.token;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.Stream;

/** All that is logged, at every level, while it is open. */
public final class LogBook extends Handler implements AutoCloseable {
    /** Of the program, whose level a test that configured its log may have left behind. */
    static final String OURS = "io.mintmark";

    private final Logger root = LogManager.getLogManager().getLogger("");
    private final Map<Logger, Optional<Level>> before = new HashMap<>();
    private final SimpleFormatter formatter = new SimpleFormatter();
    private final List<String> lines = new CopyOnWriteArrayList<>();

    private LogBook() {}

    /**
     * Begins to read.
     *
     * @param further loggers that have a level of their own
     */
    public static LogBook open(String... further) {
        LogBook book = new LogBook();
        book.setLevel(Level.ALL);
        book.listen(book.root);
        book.listen(Logger.getLogger(OURS));
        Stream.of(further).map(Logger::getLogger).forEach(book::listen);
        book.root.addHandler(book);
        return book;
    }

    private void listen(Logger logger) {
        before.put(logger, Optional.ofNullable(logger.getLevel()));
        logger.setLevel(Level.ALL);
    }

    public String text() {
        return String.join("", lines);
    }

    /** What was logged and contains this. */
    public List<String> linesWith(String part) {
        return lines.stream().filter(line -> line.contains(part)).toList();
    }

    @Override
    public void publish(LogRecord record) {
        lines.add(formatter.format(record) + Arrays.toString(record.getParameters()) + "\n");
    }

    @Override
    public void flush() {
        // nothing is held back
    }

    @Override
    public void close() {
        root.removeHandler(this);
        before.forEach((logger, level) -> logger.setLevel(level.orElse(null)));
    }
}
