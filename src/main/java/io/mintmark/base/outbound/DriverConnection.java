package io.mintmark.base.outbound;

import io.mintmark.base.outbound.OutboundFailure.Kind;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;

import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * One connection to a server that speaks neither HTTP nor TLS from its first byte, for a driver
 * that makes its socket factory by the name of a class. The connection goes to an address that may
 * be connected to, whatever the driver asks for; what the server sends is bounded; {@link #close}
 * ends it at any time.
 *
 * <p>The driver finds the dial by a scoped value, and so must connect on the thread that calls
 * {@link #open}.
 */
public final class DriverConnection implements AutoCloseable {
    static final ScopedValue<DriverConnection> CURRENT = ScopedValue.newInstance();

    private final Destinations destinations;
    private final Route route;
    private @Nullable Socket socket;
    private @Nullable OutboundFailure failure;
    private boolean closed;

    /**
     * Where to, and how.
     *
     * @param owner the tenant whose share of the look-ups is used
     * @param timeout for the TCP connection
     * @param tls empty only for a server on this machine
     * @param mostBytes that the server may send in all
     */
    public record Route(
            String owner,
            String host,
            int port,
            Duration timeout,
            Optional<Tls> tls,
            Protocol protocol,
            long mostBytes) {}

    /**
     * TLS to the server. Its certificate must be valid for the route's host.
     *
     * @param caCertificate PEM of the only authorities; empty for the Java platform's
     * @param own presented to a server that asks for a certificate
     */
    public record Tls(Optional<String> caCertificate, Optional<ClientCertificate> own) {}

    /** The steps of the server's protocol on top of TCP. */
    public interface Protocol {
        /**
         * Asks the server to begin TLS.
         *
         * @throws IOException if it doesn't
         */
        void beginTls(InputStream in, OutputStream out) throws IOException;

        /** The server's messages as the driver may read them. */
        InputStream messages(InputStream in);
    }

    public DriverConnection(Destinations destinations, Route route) {
        this.destinations = destinations;
        this.route = route;
    }

    /** Lets a driver connect by {@link DriverSockets}. */
    public <T> T open(Callable<T> driver) throws Exception {
        return ScopedValue.where(CURRENT, this).call(driver::call);
    }

    /** The reason why there is no connection; empty if the driver knows it. */
    public synchronized Optional<OutboundFailure> failure() {
        return Optional.ofNullable(failure);
    }

    /** Cuts the connection, also while the driver waits for the server. */
    @Override
    public synchronized void close() {
        closed = true;
        if (socket != null) {
            try {
                socket.close();
            } catch (IOException e) {
                // it is of no use any more
            }
        }
    }

    /** A connected socket, over TLS if the route has it. */
    Socket connected() throws IOException {
        try {
            Socket plain = connectedTcp();
            return route.tls().isPresent() ? secured(plain, route.tls().get()) : plain;
        } catch (IOException | RuntimeException e) {
            OutboundFailure why = HttpFailures.of(route.host(), e);
            synchronized (this) {
                failure = why;
            }
            close();
            throw why;
        }
    }

    /** The server's messages. */
    InputStream messages(InputStream in) {
        return route.protocol().messages(in);
    }

    private Socket connectedTcp() throws IOException {
        InetAddress[] addresses = destinations.resolver(route.owner()).resolve(route.host());
        IOException last = null;
        for (InetAddress address : addresses) {
            Socket one = keep(new BoundedSocket(route.mostBytes()));
            try {
                one.connect(
                        new InetSocketAddress(address, route.port()),
                        (int) Math.max(1, route.timeout().toMillis() / addresses.length));
                one.setTcpNoDelay(true);
                return one;
            } catch (IOException e) {
                one.close();
                last = e;
            }
        }
        throw last == null ? new OutboundFailure(Kind.UNREACHABLE, route.host()) : last;
    }

    private Socket secured(Socket plain, Tls tls) throws IOException {
        route.protocol().beginTls(plain.getInputStream(), plain.getOutputStream());
        SSLSocket secured =
                (SSLSocket)
                        Trust.context(tls.caCertificate(), tls.own())
                                .getSocketFactory()
                                .createSocket(plain, route.host(), route.port(), true);
        SSLParameters parameters = secured.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secured.setSSLParameters(parameters);
        secured.startHandshake();
        return secured;
    }

    private synchronized Socket keep(Socket one) throws IOException {
        if (closed) {
            one.close();
            throw new IOException("given up");
        }
        socket = one;
        return one;
    }
}
