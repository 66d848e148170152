package io.mintmark.base.start;

import io.mintmark.base.config.AdminSettings;
import io.mintmark.base.config.ServerSettings;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/** Checks the ports before anything else starts, so that the message names the one in use. */
public final class Ports {
    private Ports() {}

    public static void requireFree(ServerSettings server, AdminSettings admin) {
        requireFree("SERVER_PORT", server.host(), server.port());
        requireFree("ADMIN_PORT", admin.host(), admin.port());
    }

    public static void requireFree(String setting, InetAddress host, int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(host, port));
        } catch (IOException e) {
            throw new StartFailed(
                    ("%s: can't listen on port %d of %s (%s); stop the process that uses it, "
                                    + "or set another port")
                            .formatted(setting, port, host.getHostAddress(), e.getMessage()));
        }
    }
}
