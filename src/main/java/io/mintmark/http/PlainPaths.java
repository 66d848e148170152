package io.mintmark.http;

import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;

import java.util.regex.Pattern;

/**
 * Turns away whoever spells a path in another way than the interface does: with escapes,
 * parameters, empty or dotted segments, or a slash at the end, which only {@code /sdk/sts/} may
 * have because some SDKs append it. The server would take it for the plain path, and what stands in
 * front of it and goes by paths for another.
 */
final class PlainPaths implements Filter {
    /** What no path of the interface has; neither has any key or tenant in its name. */
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
