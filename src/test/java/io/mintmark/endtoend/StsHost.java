package io.mintmark.endtoend;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.Executors;

/** A reverse proxy that passes requests for {@code /} on to {@code /sdk/sts} of a broker. */
final class StsHost implements AutoCloseable {
    private final URI target;
    private final HttpServer server;
    private final HttpClient client = HttpClient.newHttpClient();

    StsHost(URI broker) throws IOException {
        this.target = broker.resolve("/sdk/sts");
        this.server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::pass);
        server.start();
    }

    String url() {
        return "http://localhost:" + server.getAddress().getPort();
    }

    private void pass(HttpExchange exchange) throws IOException {
        try (exchange) {
            HttpResponse<byte[]> answer =
                    client.send(request(exchange), BodyHandlers.ofByteArray());
            answer.headers()
                    .firstValue("Content-Type")
                    .ifPresent(type -> exchange.getResponseHeaders().set("Content-Type", type));
            exchange.sendResponseHeaders(answer.statusCode(), answer.body().length);
            exchange.getResponseBody().write(answer.body());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private HttpRequest request(HttpExchange exchange) throws IOException {
        return HttpRequest.newBuilder(target)
                .version(HttpClient.Version.HTTP_1_1)
                .header("Content-Type", exchange.getRequestHeaders().getFirst("Content-Type"))
                .method(
                        exchange.getRequestMethod(),
                        BodyPublishers.ofByteArray(exchange.getRequestBody().readAllBytes()))
                .build();
    }

    @Override
    public void close() {
        server.stop(0);
        client.close();
    }
}
