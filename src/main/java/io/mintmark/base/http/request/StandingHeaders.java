package io.mintmark.base.http.request;

import io.helidon.http.Header;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;

import java.util.ArrayList;
import java.util.List;

/**
 * Headers of every response. The server drops the headers that filters set when a request fails, so
 * they are kept with the request and set again.
 */
public final class StandingHeaders {
    private final List<Header> headers = new ArrayList<>();

    private StandingHeaders() {}

    /** Sets headers now, and again if the answer becomes an error. */
    public static void add(ServerRequest request, ServerResponse response, Header... headers) {
        StandingHeaders standing = of(request);
        for (Header header : headers) {
            standing.headers.add(header);
            response.header(header);
        }
    }

    /** Sets all these headers again. */
    public static void repeat(ServerRequest request, ServerResponse response) {
        of(request).headers.forEach(response::header);
    }

    private static StandingHeaders of(ServerRequest request) {
        return request.context()
                .get(StandingHeaders.class)
                .orElseGet(() -> {
                    StandingHeaders standing = new StandingHeaders();
                    request.context().register(standing);
                    return standing;
                });
    }
}
