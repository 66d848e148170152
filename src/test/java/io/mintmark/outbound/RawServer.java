package io.mintmark.outbound;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import javax.net.ServerSocketFactory;

/** A server that answers with whatever bytes it is told to, and sees its clients leave. */
final class RawServer implements AutoCloseable {
    /** Writes an answer, or something else. */
    interface Answer {
        void to(OutputStream out) throws IOException;
    }

    private final ServerSocket listening;
    private final Answer answer;
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final CountDownLatch left = new CountDownLatch(1);

    RawServer(ServerSocketFactory sockets, Answer answer) throws IOException {
        listening = sockets.createServerSocket(0, 0, InetAddress.ofLiteral("127.0.0.1"));
        this.answer = answer;
        Thread.ofVirtual().start(this::accept);
    }

    static RawServer plain(Answer answer) throws IOException {
        return new RawServer(ServerSocketFactory.getDefault(), answer);
    }

    static RawServer saying(String text) throws IOException {
        return plain(out -> out.write(text.getBytes(StandardCharsets.ISO_8859_1)));
    }

    int port() {
        return listening.getLocalPort();
    }

    String url() {
        return "http://127.0.0.1:" + port() + "/keys?secret=s3cret";
    }

    /** The requests so far, head only. */
    List<String> requests() {
        return List.copyOf(requests);
    }

    /** Waits until a client has hung up. */
    void awaitLeaving() throws InterruptedException {
        left.await();
    }

    @Override
    public void close() throws IOException {
        listening.close();
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
            requests.add(head(client.getInputStream()));
            answer.to(client.getOutputStream());
            client.shutdownOutput();
            client.getInputStream().readAllBytes();
        } catch (IOException e) {
            // the client left in the middle, which is what these tests are about
        } finally {
            left.countDown();
        }
    }

    private static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        int c = in.read();
        while (c >= 0 && head.indexOf("\r\n\r\n") < 0) {
            head.append((char) c);
            c = head.indexOf("\r\n\r\n") < 0 ? in.read() : c;
        }
        return head.toString();
    }
}
