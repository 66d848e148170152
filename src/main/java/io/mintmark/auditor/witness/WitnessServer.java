package io.mintmark.auditor.witness;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.base.thread.HelperThread;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;

/** Serves {@code POST /add-checkpoint} by HTTP. TLS is left to a proxy in front of it. */
public final class WitnessServer implements AutoCloseable {
    private static final String PATH = "/add-checkpoint";
    private static final int MOST_BYTES = 64 << 10;
    private static final int THREADS = 8;

    private final Witness witness;
    private final HttpServer server;
    private final ExecutorService threads = HelperThread.pool("witness", THREADS);

    /**
     * Listens from now on.
     *
     * @param address port 0 for a free one
     */
    public WitnessServer(Witness witness, InetSocketAddress address) throws IOException {
        this.witness = witness;
        this.server = HttpServer.create(address, 0);
        server.setExecutor(threads);
        var _ = server.createContext("/", this::answer);
        server.start();
    }

    /**
     * Limits what the JDK's HTTP servers leave unlimited, for all of them in this program that are
     * opened later; an operator's own value stays.
     */
    public static void limitThisProgram() {
        limit("sun.net.httpserver.maxReqTime", 10);
        limit("sun.net.httpserver.maxRspTime", 10);
        limit("jdk.httpserver.maxConnections", 100);
    }

    private static void limit(String property, int value) {
        if (System.getProperty(property) == null) {
            var _ = System.setProperty(property, Integer.toString(value));
        }
    }

    public int port() {
        return server.getAddress().getPort();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            Witness.Answer answer = answered(exchange);
            byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", answer.type());
            exchange.sendResponseHeaders(answer.status(), body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private Witness.Answer answered(HttpExchange exchange) throws IOException {
        if (!exchange.getRequestURI().getPath().equals(PATH)) {
            return Witness.Answer.refused(404, "unknown path; this witness serves only " + PATH);
        }
        if (!exchange.getRequestMethod().equals("POST")) {
            exchange.getResponseHeaders().set("Allow", "POST");
            return Witness.Answer.refused(405, "use POST");
        }
        try (InputStream in = exchange.getRequestBody()) {
            byte[] body = in.readNBytes(MOST_BYTES + 1);
            return body.length > MOST_BYTES
                    ? Witness.Answer.refused(413, "a request must have at most 64 KiB")
                    : answered(body);
        }
    }

    private Witness.Answer answered(byte[] body) {
        try {
            return witness.addCheckpoint(text(body));
        } catch (CharacterCodingException e) {
            return Witness.Answer.refused(400, "a request must be UTF-8");
        } catch (IOException e) {
            System.err.println(
                    "mintmark: nothing was cosigned, because the state can't be"
                            + " written: "
                            + e);
            return Witness.Answer.refused(500, "the state can't be written");
        }
    }

    private static String text(byte[] body) throws CharacterCodingException {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdown();
    }
}
