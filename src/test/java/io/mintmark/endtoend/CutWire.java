package io.mintmark.endtoend;

import io.mintmark.base.outbound.RawServer;

import java.io.IOException;
import java.net.InetAddress;
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

    private final RawServer server;
    private final int target;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile Duration delay;
    private volatile boolean cut;

    CutWire(int target) throws IOException {
        this(target, Duration.ZERO);
    }

    /**
     * @param delay of all that is sent, in each direction
     */
    CutWire(int target, Duration delay) throws IOException {
        this.target = target;
        this.delay = delay;
        this.server = RawServer.serving(this::connect);
    }

    int port() {
        return server.port();
    }

    /** From now on, all that is sent takes this long in each direction. */
    void delay(Duration time) {
        delay = time;
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

    private void connect(Socket client) throws IOException {
        open.add(client);
        try (Socket behind = new Socket(InetAddress.getLoopbackAddress(), target)) {
            open.add(behind);
            client.setTcpNoDelay(true);
            behind.setTcpNoDelay(true);
            if (!cut) {
                Thread.ofVirtual().start(() -> pump(client, behind));
                pump(behind, client);
            }
            open.remove(behind);
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
        server.close();
        cut();
    }
}
