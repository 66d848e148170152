package io.mintmark.http.connection;

import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.WritableHeaders;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1ConnectionListener;

/**
 * Says {@code Connection: close} on the answers after which the connection ends, and remembers that
 * it was said: the server announces an end that it then doesn't make.
 */
final class LastAnswers implements Http1ConnectionListener {
    private final ConnectionDeadlines deadlines;

    LastAnswers(ConnectionDeadlines deadlines) {
        this.deadlines = deadlines;
    }

    /** Called before the headers are written, and with the very ones that will be. */
    @Override
    public void headers(ConnectionContext context, Headers headers) {
        Conversation conversation = GuardedContext.conversation(context);
        deadlines.answered(conversation);
        boolean saysClose = ConnectionHeader.saysClose(headers);
        boolean isLast = conversation.answerBegins(saysClose, context.dataReader().available());
        if (isLast && headers instanceof WritableHeaders<?> writable) {
            writable.set(HeaderValues.CONNECTION_CLOSE);
        }
    }
}
