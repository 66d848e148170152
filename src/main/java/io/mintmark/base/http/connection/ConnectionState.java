package io.mintmark.base.http.connection;

import io.helidon.http.DirectHandler.TransportRequest;
import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import io.helidon.http.Method;
import io.helidon.http.WritableHeaders;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.DirectTransportRequest;
import io.mintmark.base.config.ServerBounds;
import io.mintmark.base.limit.Network;

import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * How far one connection is with its requests and answers. Only the connection's own thread moves
 * it on. Others may close it, but only while it waits for its client: what arrived before is worked
 * on and answered, what arrives at that moment is not read any more.
 */
final class ConnectionState {
    /**
     * The maximum number of responses on one connection. Read buffers of longer connections would
     * fill the old generation of the heap.
     */
    private static final int MOST_ANSWERS = 1_000;

    private static final HttpPrologue NO_LINE =
            HttpPrologue.create("HTTP/1.1", "HTTP", "1.1", Method.GET, "/", false);
    private static final Headers NO_HEADERS = WritableHeaders.create();

    /** Replaced whole and never used twice, so that only the very wait that was seen is ended. */
    record Moment(ConnectionStage stage, long begun, boolean awaitsClient) {}

    private final ServerBounds bounds;
    private final Network client;
    private final LongSupplier nanoTime;
    private final Runnable socketClose;
    private final AtomicReference<Moment> moment;

    private HttpPrologue line = NO_LINE;
    private Optional<String> authority = Optional.empty();
    private Headers headers = NO_HEADERS;
    private RequestBody body = RequestBody.none();
    private boolean awaitsLine = true;
    private boolean isLast;
    private boolean isUnread;
    private boolean isBroken;
    private int answers;

    /**
     * Begins with waiting for the first request.
     *
     * @param client whose connections count together
     * @param socketClose closes the socket; may be called by any thread
     */
    ConnectionState(
            ServerBounds bounds, Network client, LongSupplier nanoTime, Runnable socketClose) {
        this.bounds = bounds;
        this.client = client;
        this.nanoTime = nanoTime;
        this.socketClose = socketClose;
        this.moment = new AtomicReference<>(at(ConnectionStage.IDLE));
    }

    Network client() {
        return client;
    }

    /** Reads or writes. Throws {@link CloseConnectionException} if it was closed meanwhile. */
    <T> T awaitClient(Supplier<T> action) {
        Moment before = now();
        Moment wait = new Moment(before.stage, before.begun, true);
        if (before.stage == ConnectionStage.CLOSED || !moment.compareAndSet(before, wait)) {
            throw new CloseConnectionException("the connection is closed");
        }
        T result;
        try {
            result = action.get();
        } catch (RuntimeException e) {
            moment.compareAndSet(wait, before);
            throw e;
        }
        if (!moment.compareAndSet(wait, before)) {
            throw new CloseConnectionException(
                    "the connection was closed because its client was too slow");
        }
        return result;
    }

    /** Notes that the client has connected. A handshake may come before its first request. */
    void opens() {
        enter(ConnectionStage.HANDSHAKE);
    }

    /** Notes that the client may send its first request. */
    void isOpen() {
        enter(ConnectionStage.IDLE);
    }

    /** Notes that the server begins to receive. */
    void receives() {
        if (now().stage == ConnectionStage.ANSWER) {
            enter(ConnectionStage.IDLE);
        }
    }

    /** Notes that the server has received data. */
    void hasReceived() {
        if (now().stage == ConnectionStage.IDLE) {
            enter(ConnectionStage.HEADERS);
        }
    }

    /** Forgets the previous request of the connection. */
    void requestBegins() {
        this.line = NO_LINE;
        this.authority = Optional.empty();
        this.headers = NO_HEADERS;
        this.body = RequestBody.none();
    }

    /** Notes host and port of a request's target in absolute form. */
    void targetNames(Optional<String> authority) {
        this.authority = authority;
    }

    /** Host and port of the request's target, if it is in absolute form. */
    Optional<String> authority() {
        return authority;
    }

    /** Notes a request's line. */
    void lineIsRead(HttpPrologue line) {
        this.awaitsLine = false;
        this.line = line;
    }

    /** Notes the headers, which are not validated yet. */
    void headersAreRead(Headers headers) {
        this.headers = headers;
    }

    /** Notes that the headers were accepted and that the body follows. */
    void bodyBegins(RequestBody body, boolean isLast) {
        this.body = body;
        this.isLast = isLast;
        enter(ConnectionStage.BODY);
    }

    /**
     * Notes that the end of the request is ambiguous, so that nothing more is read from the
     * connection.
     */
    void breaks() {
        this.isBroken = true;
    }

    /** Whether nothing more may be read. */
    boolean isBroken() {
        return isBroken;
    }

    /**
     * The response is ready. It is the last one also after the maximum number of requests, or if
     * the request was not read to its end.
     *
     * @param isLast whether the response says that it is the last
     * @param received how many bytes have been received and not consumed
     * @return whether the connection is closed after it
     */
    boolean answerBegins(boolean isLast, int received) {
        boolean isWhole = now().stage == ConnectionStage.BODY && body.isWithin(received);
        this.awaitsLine = true;
        this.answers++;
        boolean isSpent = answers >= MOST_ANSWERS;
        this.isLast |= isLast || isBroken || !isWhole || isSpent;
        this.isUnread = !isWhole || isSpent || (this.isLast && received > 0);
        enter(ConnectionStage.ANSWER);
        return this.isLast;
    }

    /** Whether a request's line is what comes next. */
    boolean awaitsLine() {
        return awaitsLine;
    }

    /** Whether the current response is the connection's last. */
    boolean isLast() {
        return isLast && awaitsLine;
    }

    /**
     * Notes the end of the connection. Returns whether the client may still be sending, which must
     * end first.
     */
    boolean lingers() {
        boolean lingers = isUnread && now().stage == ConnectionStage.ANSWER;
        if (lingers) {
            enter(ConnectionStage.LINGERING);
        }
        return lingers;
    }

    /** The request that is being worked on, as far as it is known. */
    TransportRequest request() {
        return DirectTransportRequest.create(line, headers);
    }

    /** The path of that request, as it is written; {@code /} if none is known. */
    String path() {
        return line.uriPath().rawPath();
    }

    /** The number of this connection's answers that have begun. */
    int answers() {
        return answers;
    }

    /** Whether the request is a HEAD, whose response has no body. */
    boolean isHead() {
        return line.method().equals(Method.HEAD);
    }

    RequestBody body() {
        return body;
    }

    /** The wait for the client, if it is the client who has to do something. */
    Optional<ClientWait> clientWait() {
        Moment now = now();
        return now.awaitsClient
                ? Optional.of(new ClientWait(this, now, nanoTime.getAsLong() - now.begun))
                : Optional.empty();
    }

    /** Closes the connection if no request is in flight. */
    boolean closeIfIdle() {
        return closeIf(
                now -> now.stage == ConnectionStage.IDLE || now.stage == ConnectionStage.HANDSHAKE);
    }

    /** Closes it if the client has been waited for longer than the settings allow. */
    boolean closeIfOverdue() {
        return closeIf(
                now -> nanoTime.getAsLong() - now.begun > now.stage.timeout(bounds).toNanos());
    }

    private boolean closeIf(Predicate<Moment> condition) {
        Moment now = now();
        return now.awaitsClient && condition.test(now) && closeAt(now);
    }

    /** Closes the connection if it is still at this moment. */
    boolean closeAt(Moment wait) {
        if (!moment.compareAndSet(wait, at(ConnectionStage.CLOSED))) {
            return false;
        }
        try {
            socketClose.run();
        } catch (UncheckedIOException e) {
            // a socket that can't be closed is closed
        }
        return true;
    }

    private Moment now() {
        return Objects.requireNonNull(moment.get());
    }

    private void enter(ConnectionStage stage) {
        moment.set(at(stage));
    }

    private Moment at(ConnectionStage stage) {
        return new Moment(stage, nanoTime.getAsLong(), false);
    }
}
