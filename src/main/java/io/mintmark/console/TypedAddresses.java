package io.mintmark.console;

import io.helidon.common.uri.UriValidator;
import io.helidon.http.HttpPrologue;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;

/**
 * Refuses queries that can't be read in one way only. People type addresses, and subjects are full
 * of colons: RFC 3986 (section 3.4) allows them, and the server's own check doesn't, so that is
 * switched off for this port and done here.
 */
final class TypedAddresses implements Filter {
    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        if (isPlain(request.prologue())) {
            chain.proceed();
        } else {
            Notice.of(
                            400,
                            "That can't be answered",
                            "The address has a character that addresses can't have as it is, or a %"
                                    + " without two hexadecimal digits.",
                            "Type what you look for into the field of the page, which encodes it; in"
                                    + " an address a % is written %25 and a space %20.")
                    .withLink("To the overview", "/")
                    .send(request, response);
        }
    }

    private static boolean isPlain(HttpPrologue prologue) {
        try {
            UriValidator.validateQuery(prologue.query().rawValue().replace(':', '-'));
            return !prologue.fragment().hasValue();
        } catch (IllegalArgumentException _) {
            return false;
        }
    }
}
