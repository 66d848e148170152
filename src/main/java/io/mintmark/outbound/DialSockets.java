package io.mintmark.outbound;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketImpl;

import javax.net.SocketFactory;

/** Gives a driver the connection of the current {@link Dial}, whatever address it asks for. */
public final class DialSockets extends SocketFactory {

    /** Called by the driver, by the name of this class. */
    public DialSockets() {}

    /** Connected already, so that the driver neither resolves a name nor connects. */
    @Override
    public Socket createSocket() throws IOException {
        Dial dial = Dial.CURRENT.get();
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

    /** What a driver uses of a socket, with the server's messages in place of its bytes. */
    private static final class Filtered extends Socket {
        private final Socket socket;
        private final InputStream messages;

        Filtered(Socket socket, Dial dial) throws IOException {
            super((SocketImpl) null);
            this.socket = socket;
            this.messages = dial.messages(socket.getInputStream());
        }

        @Override
        public InputStream getInputStream() {
            return messages;
        }

        @Override
        public OutputStream getOutputStream() throws IOException {
            return socket.getOutputStream();
        }

        @Override
        public boolean isConnected() {
            return socket.isConnected();
        }

        @Override
        public boolean isClosed() {
            return socket.isClosed();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }

        @Override
        public void setSoTimeout(int milliseconds) throws SocketException {
            socket.setSoTimeout(milliseconds);
        }

        @Override
        public int getSoTimeout() throws SocketException {
            return socket.getSoTimeout();
        }

        @Override
        public void setTcpNoDelay(boolean on) throws SocketException {
            socket.setTcpNoDelay(on);
        }

        @Override
        public void setKeepAlive(boolean on) throws SocketException {
            socket.setKeepAlive(on);
        }

        @Override
        public int getSendBufferSize() throws SocketException {
            return socket.getSendBufferSize();
        }

        @Override
        public int getReceiveBufferSize() throws SocketException {
            return socket.getReceiveBufferSize();
        }
    }
}
