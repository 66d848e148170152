package io.mintmark.benchmark;

import io.helidon.webserver.WebServer;

/** The broker's server with a handler that does nothing: what a request costs at the least. */
public final class EmptyServer {
    private EmptyServer() {}

    /** Serves at the port that {@code SERVER_PORT} says. */
    public static void main(String[] args) {
        WebServer.builder()
                .host("127.0.0.1")
                .port(Integer.parseInt(System.getenv("SERVER_PORT")))
                .routing(routes -> routes.any((_, response) -> response.send("{}")))
                .build()
                .start();
    }
}
