package io.mintmark.endtoend;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Carries connections to a local port, as a network that takes its time, until it is cut, as one
 * that is partitioned.
 */
final class CutWire implements AutoCloseable {
    private static final int CHUNK = 65_536;

    private final ServerSocket socket;
    private final int target;
    private final Duration delay;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile boolean cut;

    CutWire(int target) {
        this(target, Duration.ZERO);
    }

    /**
     * @param delay of all that is sent, in each direction
     */
    CutWire(int target, Duration delay) {
        this.target = target;
        this.delay = delay;
        try {
            this.socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return socket.getLocalPort();
    }

    void cut() throws IOException {
        cut = true;
        for (Socket each : open) {
            each.close();
        }
    }

    void mend() {
        cut = false;
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                Socket client = socket.accept();
                Thread.ofVirtual().start(() -> connect(client));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void connect(Socket client) {
        open.add(client);
        try (client;
                Socket server = new Socket(InetAddress.getLoopbackAddress(), target)) {
            open.add(server);
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            if (!cut) {
                Thread.ofVirtual().start(() -> pump(client, server));
                pump(server, client);
            }
            open.remove(server);
        } catch (IOException e) {
            // the client finds nobody there
        } finally {
            open.remove(client);
        }
    }

    private void pump(Socket from, Socket to) {
        try {
            byte[] sent = new byte[CHUNK];
            for (int size = from.getInputStream().read(sent);
                    size >= 0;
                    size = from.getInputStream().read(sent)) {
                LockSupport.parkNanos(delay.toNanos());
                to.getOutputStream().write(sent, 0, size);
            }
            to.shutdownOutput();
        } catch (IOException e) {
            // either side hung up
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
        cut();
    }
}
