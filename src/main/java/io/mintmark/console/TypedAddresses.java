package io.mintmark.console;

import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.mintmark.http.connection.UriCharacters;

/**
 * Rejects queries with characters that RFC 3986 section 3.4 doesn't allow, with a page: people type
 * addresses. The port itself would end the connection without one.
 */
final class TypedAddresses implements Filter {
    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        if (UriCharacters.isQuery(request.prologue().query().rawValue())) {
            chain.proceed();
        } else {
            Notice.of(
                            400,
                            "Error",
                            "The address has a character that addresses can't have as it is, or a %"
                                    + " without two hexadecimal digits.",
                            "Type what you look for into the field of the page, which encodes it; in"
                                    + " an address a % is written %25 and a space %20.")
                    .withLink("To the overview", "/")
                    .send(request, response);
        }
    }
}
