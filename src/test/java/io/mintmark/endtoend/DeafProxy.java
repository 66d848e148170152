package io.mintmark.endtoend;

import io.mintmark.base.outbound.RawServer;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;

/** Stands before PostgreSQL like a pooler, swallows all notifications, and may be slow. */
final class DeafProxy implements AutoCloseable {
    private static final int NOTIFICATION = 'A';
    private static final int LENGTH = 4;

    private final RawServer server;
    private final String host;
    private final int port;
    private final String database;
    private volatile Duration connecting = Duration.ZERO;

    /**
     * @param url the database behind it, {@code jdbc:postgresql://host:port/name}
     */
    DeafProxy(String url) throws IOException {
        URI uri = URI.create(url.substring("jdbc:".length()));
        this.host = uri.getHost();
        this.port = uri.getPort();
        this.database = uri.getPath();
        this.server = RawServer.serving(this::connect);
    }

    /** From now on nothing comes through a new connection for so long. */
    void delay(Duration time) {
        connecting = time;
    }

    /** The database through the proxy. */
    String url() {
        return "jdbc:postgresql://localhost:%d%s?sslmode=disable"
                .formatted(server.port(), database);
    }

    private void connect(Socket client) throws IOException, InterruptedException {
        Thread.sleep(connecting);
        Socket behind = new Socket(host, port);
        Thread.ofVirtual().start(() -> pump(client, behind, false));
        pump(behind, client, true);
    }

    private static void pump(Socket from, Socket to, boolean answers) {
        try (from;
                to) {
            if (answers) {
                copyMessages(new DataInputStream(from.getInputStream()), to.getOutputStream());
            } else {
                from.getInputStream().transferTo(to.getOutputStream());
            }
        } catch (IOException e) {
            // either side hung up, and so does this one
        }
    }

    /** PostgreSQL's protocol: a letter, the length of what follows with itself, what follows. */
    private static void copyMessages(DataInputStream from, OutputStream to) throws IOException {
        for (int type = from.read(); type >= 0; type = from.read()) {
            int length = from.readInt();
            byte[] message = exactly(from, length - LENGTH);
            if (type != NOTIFICATION) {
                to.write(type);
                to.write(ByteBuffer.allocate(LENGTH).putInt(length).array());
                to.write(message);
                to.flush();
            }
        }
    }

    private static byte[] exactly(InputStream from, int count) throws IOException {
        byte[] bytes = from.readNBytes(count);
        if (bytes.length < count) {
            throw new IOException("cut off");
        }
        return bytes;
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
