package io.mintmark.broker.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.endtoend.Eventually;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * A client that sends any bytes, also malformed requests. It gives up after {@link
 * Eventually#PATIENCE}.
 */
final class RawClient implements AutoCloseable {
    private static final int TIMEOUT = (int) Eventually.PATIENCE.toMillis();

    private final Socket socket = new Socket();
    private final InputStream in;

    RawClient(int port) throws IOException {
        this(port, 0);
    }

    /**
     * @param receiveBuffer how many bytes the client's system takes without the client; 0 for as
     *     many as it likes
     */
    RawClient(int port, int receiveBuffer) throws IOException {
        this(port, receiveBuffer, "127.0.0.1");
    }

    /**
     * @param from the client's own address
     */
    RawClient(int port, int receiveBuffer, String from) throws IOException {
        if (receiveBuffer > 0) {
            socket.setReceiveBufferSize(receiveBuffer);
        }
        socket.bind(new InetSocketAddress(InetAddress.ofLiteral(from), 0));
        socket.setSoTimeout(TIMEOUT);
        socket.setTcpNoDelay(true);
        socket.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
        in = new BufferedInputStream(socket.getInputStream());
    }

    RawClient send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        return this;
    }

    /** The same, for a server that may have had enough already. */
    RawClient trySending(String text) {
        try {
            return send(text);
        } catch (IOException e) {
            return this;
        }
    }

    /** Says that nothing more will be sent. */
    RawClient finish() throws IOException {
        socket.shutdownOutput();
        return this;
    }

    /** The same, for a server that may have left already. */
    RawClient tryFinishing() {
        try {
            return finish();
        } catch (IOException e) {
            return this;
        }
    }

    /** Waits a while for the next answer to begin, and returns whether it did. */
    boolean isAnsweredWithin(Duration wait) throws IOException {
        socket.setSoTimeout(Math.toIntExact(wait.toMillis()));
        in.mark(1);
        try {
            return in.read() >= 0;
        } catch (SocketTimeoutException e) {
            return false;
        } finally {
            in.reset();
            socket.setSoTimeout(TIMEOUT);
        }
    }

    /** The next answer, with a body if it has a length or chunks. */
    RawAnswer answer() throws IOException {
        RawAnswer head = head();
        String length = head.header("content-length");
        byte[] body =
                head.header("transfer-encoding").equals("chunked")
                        ? chunks()
                        : in.readNBytes(length.isEmpty() ? 0 : Integer.parseInt(length));
        return new RawAnswer(
                head.status(), head.headers(), new String(body, StandardCharsets.UTF_8));
    }

    private byte[] chunks() throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        int size;
        do {
            size = Integer.parseInt(line(), 16);
            body.write(in.readNBytes(size));
            assertEquals("", line());
        } while (size > 0);
        return body.toByteArray();
    }

    /** The next answer to HEAD, whose length is that of a body that doesn't come. */
    RawAnswer head() throws IOException {
        String status = line();
        Map<String, List<String>> headers = new TreeMap<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            headers.computeIfAbsent(
                            line.substring(0, colon).toLowerCase(Locale.ROOT),
                            any -> new ArrayList<>())
                    .add(line.substring(colon + 1).strip());
        }
        return new RawAnswer(Integer.parseInt(status.substring(9, 12)), headers, "");
    }

    /** Waits for the server to close, and returns what it sent before. */
    String untilClosed() throws IOException {
        ByteArrayOutputStream rest = new ByteArrayOutputStream();
        try {
            in.transferTo(rest);
        } catch (SocketException e) {
            return rest.toString(StandardCharsets.ISO_8859_1); // reset
        }
        return rest.toString(StandardCharsets.ISO_8859_1);
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("closed after: " + line);
            }
            line.write(b);
        }
        return line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
