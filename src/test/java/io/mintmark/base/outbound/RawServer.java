package io.mintmark.base.outbound;

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
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.net.ServerSocketFactory;

/** A server that answers with whatever bytes it is told to, and sees its clients leave. */
public final class RawServer implements AutoCloseable {
    private static final int BACKLOG = 200;
    private static final Pattern LENGTH =
            Pattern.compile("\r\ncontent-length: *(\\d+)", Pattern.CASE_INSENSITIVE);

    /** Writes an answer, or something else. */
    interface Answer {
        void to(OutputStream out) throws IOException;
    }

    /** Does with a connection what it likes; when it is done, the connection ends. */
    public interface Service {
        void serve(Socket client) throws IOException, InterruptedException;
    }

    private final ServerSocket listening;
    private final Service service;
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final List<Socket> connections = new CopyOnWriteArrayList<>();
    private final CountDownLatch left = new CountDownLatch(1);

    private RawServer(ServerSocketFactory sockets, Function<RawServer, Service> service)
            throws IOException {
        listening = sockets.createServerSocket(0, BACKLOG, InetAddress.ofLiteral("127.0.0.1"));
        this.service = service.apply(this);
        Thread.ofVirtual().start(this::accept);
    }

    /** Answers the first request of each connection. */
    static RawServer answering(ServerSocketFactory sockets, Answer answer) throws IOException {
        return new RawServer(sockets, server -> client -> server.answer(client, answer));
    }

    /** Leaves everything to the service. */
    public static RawServer serving(Service service) throws IOException {
        return new RawServer(ServerSocketFactory.getDefault(), _ -> service);
    }

    static RawServer plain(Answer answer) throws IOException {
        return answering(ServerSocketFactory.getDefault(), answer);
    }

    static RawServer saying(String text) throws IOException {
        return plain(out -> out.write(text.getBytes(StandardCharsets.ISO_8859_1)));
    }

    public int port() {
        return listening.getLocalPort();
    }

    /** {@code http://127.0.0.1:port}. */
    public String origin() {
        return "http://127.0.0.1:" + port();
    }

    String url() {
        return origin() + "/keys?secret=s3cret";
    }

    /** The requests so far, of those that it answers itself. */
    List<String> requests() {
        return List.copyOf(requests);
    }

    /** How many connections there have been. */
    public int connections() {
        return connections.size();
    }

    /** Waits until a client has hung up. */
    void awaitLeaving() throws InterruptedException {
        left.await();
    }

    @Override
    public void close() throws IOException {
        listening.close();
        for (Socket each : connections) {
            each.close();
        }
    }

    /** The next request with its body; empty if the client has left. */
    public static String request(InputStream in) throws IOException {
        String head = head(in);
        Matcher length = LENGTH.matcher(head);
        byte[] body = in.readNBytes(length.find() ? Integer.parseInt(length.group(1)) : 0);
        return head + new String(body, StandardCharsets.UTF_8);
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listening.accept();
                connections.add(client);
                Thread.ofVirtual().start(() -> serve(client));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void serve(Socket client) {
        try (client) {
            service.serve(client);
        } catch (IOException | InterruptedException e) {
            // the client left in the middle, which is what these tests are about
        } finally {
            left.countDown();
        }
    }

    private void answer(Socket client, Answer answer) throws IOException {
        requests.add(request(client.getInputStream()));
        answer.to(client.getOutputStream());
        client.shutdownOutput();
        client.getInputStream().readAllBytes();
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
