package io.mintmark.mint;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server on a loopback port that answers every request with the bytes that it is told to. */
final class LyingServer implements AutoCloseable {
    private static final Pattern LENGTH =
            Pattern.compile("\r\ncontent-length: *(\\d+)", Pattern.CASE_INSENSITIVE);

    /** Answers a request, of which it is shown all. */
    interface Lie {
        void tell(String request, OutputStream out) throws IOException, InterruptedException;
    }

    private final ServerSocket listening;
    private final Lie lie;

    LyingServer(Lie lie) {
        this.lie = lie;
        try {
            listening = new ServerSocket(0, 200, InetAddress.ofLiteral("127.0.0.1"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    String origin() {
        return "http://127.0.0.1:" + listening.getLocalPort();
    }

    @Override
    public void close() {
        try {
            listening.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listening.accept();
                Thread.ofVirtual().start(() -> serve(client));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void serve(Socket client) {
        try (client) {
            lie.tell(request(client.getInputStream()), client.getOutputStream());
        } catch (IOException | InterruptedException e) {
            // the broker had heard enough
        }
    }

    private static String request(InputStream in) throws IOException {
        StringBuilder request = new StringBuilder();
        int c = in.read();
        while (c >= 0 && request.indexOf("\r\n\r\n") < 0) {
            request.append((char) c);
            c = request.indexOf("\r\n\r\n") < 0 ? in.read() : c;
        }
        Matcher length = LENGTH.matcher(request);
        byte[] body = in.readNBytes(length.find() ? Integer.parseInt(length.group(1)) : 0);
        return request + new String(body, StandardCharsets.UTF_8);
    }
}
