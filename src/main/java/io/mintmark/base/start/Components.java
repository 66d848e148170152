package io.mintmark.base.start;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The components of a broker. They are closed in reverse order of their creation, which need not be
 * the order of their starts; components that don't run are skipped.
 */
public final class Components implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Components.class);

    private final Deque<AutoCloseable> made = new ArrayDeque<>();
    private final Set<AutoCloseable> running = Collections.newSetFromMap(new IdentityHashMap<>());

    /** Adds a component that holds resources from its construction on. */
    public <T extends AutoCloseable> T running(T component) {
        running.add(component);
        return idle(component);
    }

    /** Adds a component that holds nothing until it starts. */
    public <T extends AutoCloseable> T idle(T component) {
        made.push(component);
        return component;
    }

    /** Starts a component. One that fails half-way is closed like the others. */
    public <T extends AutoCloseable> void start(T component, Consumer<T> start) {
        running.add(component);
        start.accept(component);
    }

    /** Closes all running components, even if some fail. */
    @Override
    public void close() {
        while (!made.isEmpty()) {
            AutoCloseable component = made.pop();
            if (running.remove(component)) {
                close(component);
            }
        }
    }

    private static void close(AutoCloseable component) {
        try {
            component.close();
        } catch (Exception e) {
            log.error(
                    "{} could not be closed at shutdown", component.getClass().getSimpleName(), e);
        }
    }
}
