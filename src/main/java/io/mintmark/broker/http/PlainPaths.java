package io.mintmark.broker.http;

import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;

import java.util.regex.Pattern;

/**
 * Rejects paths that are not spelled as in the interface: with escapes, parameters, empty or dotted
 * segments, or a trailing slash, except {@code /sdk/sts/} because some SDKs append it. The server
 * would normalize them, while a proxy with rules for paths would treat them as others.
 */
final class PlainPaths implements Filter {
    /**
     * Characters and segments that occur in no path of the interface, and in no name of a key or
     * tenant.
     */
    private static final Pattern OTHERWISE =
            Pattern.compile("^[^/]|[^A-Za-z0-9_./-]|//|/\\.\\.?(?:/|$)|/$");

    private final Answers answers;

    PlainPaths(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        String path = request.path().rawPath();
        if (!path.equals(StsRoute.PATH_OF_SDKS) && OTHERWISE.matcher(path).find()) {
            answers.send(request, response, ErrorBody.of(404, "NOT_FOUND", Routes.NO_SUCH_PATH));
        } else {
            chain.proceed();
        }
    }
}
