package io.mintmark.http.connection;

import io.helidon.http.DirectHandler.TransportRequest;
import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import io.helidon.http.Method;
import io.helidon.http.WritableHeaders;
import io.helidon.webserver.http.DirectTransportRequest;
import io.mintmark.config.ServerBounds;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Where a client and the server are with each other on one connection. Only the connection's own
 * thread moves it on; {@link Crowd} and {@link ConnectionDeadlines} look on and may hang up.
 */
final class Conversation {
    /** How long a client that is still sending when it gets its last answer may take to stop. */
    private static final Duration FAREWELL = Duration.ofSeconds(2);

    private static final HttpPrologue NO_LINE =
            HttpPrologue.create("HTTP/1.1", "HTTP", "1.1", Method.GET, "/", false);

    private static final Headers NO_HEADERS = WritableHeaders.create();

    private enum Stage {
        WAITING,
        HEADERS,
        BODY,
        ANSWER,
        FAREWELL
    }

    /** Replaced whole, so that no stage is seen with the beginning of another. */
    private record Moment(Stage stage, long begun) {}

    private final ServerBounds bounds;
    private final LongSupplier nanoTime;
    private final Runnable hangUp;
    private volatile Moment moment;
    private volatile boolean isClientsTurn;
    private volatile boolean isHungUp;

    private HttpPrologue line = NO_LINE;
    private Headers headers = NO_HEADERS;
    private RequestBody body = RequestBody.none();
    private boolean awaitsLine = true;
    private boolean isLast;
    private boolean isUnread;
    private boolean isBroken;

    /**
     * Begins with waiting for the first request.
     *
     * @param hangUp closes the socket; may be called by any thread
     */
    Conversation(ServerBounds bounds, LongSupplier nanoTime, Runnable hangUp) {
        this.bounds = bounds;
        this.nanoTime = nanoTime;
        this.hangUp = hangUp;
        this.moment = new Moment(Stage.WAITING, nanoTime.getAsLong());
    }

    /** Does what only the client can bring to an end: reads from it, or writes to it. */
    <T> T onClient(Supplier<T> action) {
        isClientsTurn = true;
        try {
            return action.get();
        } finally {
            isClientsTurn = false;
        }
    }

    /** The server is about to receive. */
    void receives() {
        if (moment.stage == Stage.ANSWER) {
            enter(Stage.WAITING);
        }
    }

    /** The server has received something. */
    void hasReceived() {
        if (moment.stage == Stage.WAITING) {
            enter(Stage.HEADERS);
        }
    }

    /** Nothing of the request before counts any more. */
    void requestBegins() {
        this.line = NO_LINE;
        this.headers = NO_HEADERS;
        this.body = RequestBody.none();
    }

    /** A request's line is read. */
    void lineIsRead(HttpPrologue line) {
        this.awaitsLine = false;
        this.line = line;
    }

    /** Nobody can tell any more where a request ends: nothing more is read, whoever tries. */
    void breaks() {
        this.isBroken = true;
    }

    /** Whether nothing more may be read. */
    boolean isBroken() {
        return isBroken;
    }

    /** Its headers are read too, and not yet believed. */
    void headersAreRead(Headers headers) {
        this.headers = headers;
    }

    /** They are good, and what follows is the body. */
    void bodyBegins(RequestBody body, boolean isLast) {
        this.body = body;
        this.isLast = isLast;
        enter(Stage.BODY);
    }

    /**
     * The answer is ready. It is the last one if somebody said so, or if the client's bytes can't
     * be told apart any more: its request was not read to the end.
     *
     * @param isLast whether the answer says that it is
     * @param received how many bytes have been received beyond those that were taken
     * @return whether the connection ends after it
     */
    boolean answerBegins(boolean isLast, int received) {
        this.awaitsLine = true;
        this.isUnread = moment.stage != Stage.BODY || !body.isWithin(received);
        this.isLast |= isLast || isUnread || isBroken;
        enter(Stage.ANSWER);
        return this.isLast;
    }

    /** Whether a request's line is what comes next. */
    boolean awaitsLine() {
        return awaitsLine;
    }

    /** The connection ends, and perhaps the client is still sending. */
    void farewell() {
        enter(Stage.FAREWELL);
    }

    /** Whether nothing more is to be read after the answer that is under way. */
    boolean isLast() {
        return isLast && moment.stage != Stage.BODY;
    }

    /** Whether the client may be sending what nobody will read. */
    boolean isUnread() {
        return isUnread;
    }

    /** The request that is being worked on, as far as it is known. */
    TransportRequest request() {
        return DirectTransportRequest.create(line, headers);
    }

    /** Whether its answer has no body. */
    boolean isHead() {
        return line.method().equals(Method.HEAD);
    }

    RequestBody body() {
        return body;
    }

    /** Whether it is the client who has to do something. */
    boolean isWaitingForClient() {
        return isClientsTurn && !isHungUp;
    }

    /** Whether no request is under way. */
    boolean isIdle() {
        return isWaitingForClient() && moment.stage == Stage.WAITING;
    }

    /** Nanoseconds that it has been at its stage. */
    long age() {
        return nanoTime.getAsLong() - moment.begun;
    }

    /** Whether the client has been waited for longer than the settings allow. */
    boolean isOverdue() {
        Moment now = moment;
        return isWaitingForClient()
                && nanoTime.getAsLong() - now.begun > patience(now.stage).toNanos();
    }

    /** Closes the socket, whatever is going on. */
    void hangUp() {
        isHungUp = true;
        try {
            hangUp.run();
        } catch (UncheckedIOException e) {
            return; // a socket that can't be closed is closed
        }
    }

    private Duration patience(Stage stage) {
        return switch (stage) {
            case WAITING -> bounds.idleTimeout();
            case HEADERS -> bounds.headerTimeout();
            case BODY -> bounds.bodyTimeout();
            case ANSWER -> bounds.answerTimeout();
            case FAREWELL -> FAREWELL;
        };
    }

    private void enter(Stage stage) {
        moment = new Moment(stage, nanoTime.getAsLong());
    }
}
