package io.mintmark.http.connection;

import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.WritableHeaders;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1ConnectionListener;

/**
 * Decides which answer is a connection's last (RFC 9112 section 9.3), says {@code Connection:
 * close} on it, and remembers that it was said: the server announces an end that it then doesn't
 * make.
 */
final class Persistence implements Http1ConnectionListener {
    private final ConnectionDeadlines deadlines;

    Persistence(ConnectionDeadlines deadlines) {
        this.deadlines = deadlines;
    }

    /** Called before the headers are written, and with the very ones that will be. */
    @Override
    public void headers(ConnectionContext context, Headers headers) {
        ConnectionState state = GuardedContext.state(context);
        boolean isLast =
                state.answerBegins(
                        deadlines.isDraining() || ConnectionHeader.saysClose(headers),
                        context.dataReader().available());
        if (isLast && headers instanceof WritableHeaders<?> writable) {
            writable.set(HeaderValues.CONNECTION_CLOSE);
        }
    }
}
