package io.mintmark.base.http.connection;

import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.RequestException;
import io.helidon.http.Status;
import io.helidon.webserver.ErrorHandling;

/** Requests whose end is ambiguous. */
public final class BadFraming {
    /** The message of a request of a version that proxies still speak by default. */
    public static final String HTTP_1_0 = "HTTP/1.0";

    /**
     * Hands the message above to the server's handlers of errors, which answer in words of their
     * own: by default they are told none.
     */
    static final ErrorHandling TOLD = ErrorHandling.builder().includeEntity(true).build();

    private BadFraming() {}

    /** Ends the request with 400, and the connection with it. */
    static RequestException in(ConnectionState state, String why) {
        return refused(state, Status.BAD_REQUEST_400, why);
    }

    /** Refuses a request with 411, which says what is missing. */
    static RequestException withoutLength(ConnectionState state) {
        return refused(state, Status.LENGTH_REQUIRED_411, "a Transfer-Encoding");
    }

    private static RequestException refused(ConnectionState state, Status status, String why) {
        state.breaks();
        return RequestException.builder()
                .type(EventType.BAD_REQUEST)
                .status(status)
                .request(state.request())
                .setKeepAlive(false)
                .message(why)
                .safeMessage(true)
                .build();
    }
}
