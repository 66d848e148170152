package io.mintmark.endtoend;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;

import io.mintmark.base.outbound.Authority;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.Executors;

/** A proxy that terminates TLS for the broker's documents: some services read no others. */
public final class TlsFront implements AutoCloseable {
    private final HttpsServer server;
    private final HttpClient client = HttpClient.newHttpClient();
    private volatile @Nullable URI broker;

    public TlsFront(Authority authority) throws Exception {
        server =
                HttpsServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(authority.server("localhost")));
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::pass);
        server.start();
    }

    public String url() {
        return "https://localhost:" + server.getAddress().getPort();
    }

    public void before(URI address) {
        broker = address;
    }

    private void pass(HttpExchange exchange) throws IOException {
        try (exchange) {
            URI behind = broker;
            if (behind == null) {
                exchange.sendResponseHeaders(503, -1);
                return;
            }
            HttpResponse<byte[]> answer =
                    client.send(
                            HttpRequest.newBuilder(
                                            behind.resolve(exchange.getRequestURI().getPath()))
                                    .build(),
                            BodyHandlers.ofByteArray());
            answer.headers()
                    .firstValue("Content-Type")
                    .ifPresent(type -> exchange.getResponseHeaders().set("Content-Type", type));
            exchange.sendResponseHeaders(answer.statusCode(), answer.body().length);
            exchange.getResponseBody().write(answer.body());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        client.close();
    }
}
