package io.mintmark.base.outbound;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;

import javax.net.SocketFactory;

/**
 * Gives a driver the connection of the current {@link DriverConnection}, whatever address it asks
 * for.
 */
public final class DriverSockets extends SocketFactory {

    /** Called by the driver, by the name of this class. */
    public DriverSockets() {}

    /** Connected already, so that the driver neither resolves a name nor connects. */
    @Override
    public Socket createSocket() throws IOException {
        DriverConnection dial = DriverConnection.CURRENT.get();
        return new Filtered(dial.connected(), dial);
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return createSocket();
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress local, int localPort)
            throws IOException {
        return createSocket();
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return createSocket();
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort)
            throws IOException {
        return createSocket();
    }

    /** The server's messages in place of its bytes. */
    private static final class Filtered extends DelegatingSocket {
        private final InputStream messages;

        Filtered(Socket socket, DriverConnection dial) throws IOException {
            super(socket);
            this.messages = dial.messages(socket.getInputStream());
        }

        @Override
        public InputStream getInputStream() {
            return messages;
        }
    }
}
