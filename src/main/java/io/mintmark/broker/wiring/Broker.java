package io.mintmark.broker.wiring;

import io.mintmark.base.start.Components;
import io.mintmark.broker.http.Servers;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.concurrent.atomic.AtomicBoolean;

/** A broker that serves, until it is closed. */
public final class Broker implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Broker.class);

    private final Components components;
    private final AtomicBoolean stopping;
    private final Servers servers;

    private Broker(Components components, AtomicBoolean stopping, Servers servers) {
        this.components = components;
        this.stopping = stopping;
        this.servers = servers;
    }

    /** Starts a broker. If that fails half-way, nothing of it is left. */
    static Broker start(Prepared prepared) {
        Components components = new Components();
        AtomicBoolean stopping = new AtomicBoolean();
        try {
            Servers servers = new Assembly(prepared, components, stopping::get).start();
            return new Broker(components, stopping, servers);
        } catch (RuntimeException | Error e) {
            components.close();
            throw e;
        }
    }

    /** The public port, which may have been chosen by the system. */
    public int port() {
        return servers.port();
    }

    /** The port for operators. */
    public int adminPort() {
        return servers.adminPort();
    }

    /** Readiness goes down, connections drain, requests in flight finish, then the audit queue. */
    @Override
    public void close() {
        stopping.set(true);
        log.info(
                "Mintmark is stopping: connections close after their next response, and requests in flight finish");
        components.close();
        log.info("Mintmark has stopped");
    }
}
