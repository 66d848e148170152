package io.mintmark.base.outbound;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** HTTP servers on 127.0.0.1, with a virtual thread for each request. */
public final class LoopbackHttp {
    private LoopbackHttp() {}

    /**
     * Starts a server.
     *
     * @param port 0 for any free one
     * @param handler of all paths
     */
    public static HttpServer serving(int port, HttpHandler handler) {
        var address = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port);
        try {
            HttpServer server = HttpServer.create(address, 0);
            server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
            server.createContext("/", handler);
            server.start();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
