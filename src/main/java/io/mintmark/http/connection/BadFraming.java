package io.mintmark.http.connection;

import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.RequestException;
import io.helidon.http.Status;

/** Where a request ends is not beyond doubt. */
final class BadFraming {
    private BadFraming() {}

    /** Ends the request with 400, and the connection with it. */
    static RequestException in(Conversation conversation, String why) {
        return refused(conversation, Status.BAD_REQUEST_400, why);
    }

    /** The same with 411, which says what is missing. */
    static RequestException withoutLength(Conversation conversation) {
        return refused(conversation, Status.LENGTH_REQUIRED_411, "a Transfer-Encoding");
    }

    private static RequestException refused(Conversation conversation, Status status, String why) {
        conversation.breaks();
        return RequestException.builder()
                .type(EventType.BAD_REQUEST)
                .status(status)
                .request(conversation.request())
                .setKeepAlive(false)
                .message(why)
                .build();
    }
}
