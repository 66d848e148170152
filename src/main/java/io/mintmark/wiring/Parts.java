package io.mintmark.wiring;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The parts of a broker. They are closed in reverse order of their creation, which need not be the
 * order of their starts; parts that don't run are skipped.
 */
final class Parts implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Parts.class);

    private final Deque<AutoCloseable> made = new ArrayDeque<>();
    private final Set<AutoCloseable> running = Collections.newSetFromMap(new IdentityHashMap<>());

    /** Takes a part that holds something from its making on. */
    <T extends AutoCloseable> T running(T part) {
        running.add(part);
        return idle(part);
    }

    /** Takes a part that holds nothing until it is started. */
    <T extends AutoCloseable> T idle(T part) {
        made.push(part);
        return part;
    }

    /** Starts a part. One that fails half-way is closed like the others. */
    <T extends AutoCloseable> void start(T part, Consumer<T> start) {
        running.add(part);
        start.accept(part);
    }

    /** Closes all running parts, even if some fail. */
    @Override
    public void close() {
        while (!made.isEmpty()) {
            AutoCloseable part = made.pop();
            if (running.remove(part)) {
                close(part);
            }
        }
    }

    private static void close(AutoCloseable part) {
        try {
            part.close();
        } catch (Exception e) {
            log.error("A component of the broker could not be closed", e);
        }
    }
}
