package io.mintmark.console.wiring;

import io.mintmark.base.start.Components;
import io.mintmark.console.ConsoleServer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.Optional;

/** A console that serves, until it is closed. */
public final class Console implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Console.class);

    private final Components components;
    private final ConsoleServer server;

    Console(Components components, ConsoleServer server) {
        this.components = components;
        this.server = server;
    }

    /** The port, which may have been chosen by the system. */
    public int port() {
        return server.port();
    }

    /** The port for operators, if there is one. */
    public Optional<Integer> adminPort() {
        return server.adminPort();
    }

    /** Drains connections, and completes pages in progress. */
    @Override
    public void close() {
        log.info("The console is stopping");
        components.close();
        log.info("The console has stopped");
    }
}
