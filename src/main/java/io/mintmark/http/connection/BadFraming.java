package io.mintmark.http.connection;

import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.DirectHandler.TransportRequest;
import io.helidon.http.RequestException;
import io.helidon.http.Status;

/** Where a request ends is not beyond doubt. */
final class BadFraming {
    private BadFraming() {}

    /** Ends the request with 400, and the connection with it. */
    static RequestException in(TransportRequest request, String why) {
        return RequestException.builder()
                .type(EventType.BAD_REQUEST)
                .status(Status.BAD_REQUEST_400)
                .request(request)
                .setKeepAlive(false)
                .message(why)
                .build();
    }
}
