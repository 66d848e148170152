package io.mintmark.console;

import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;

import java.net.URI;
import java.util.Optional;

/**
 * Refuses what another site makes a browser ask for, but for following a link: by Fetch Metadata,
 * and by {@code Origin} where a browser sends none. Beside that the session's cookie is {@code
 * SameSite=Lax}.
 */
final class SameSite implements Filter {
    private final String origin;

    SameSite(URI console) {
        this.origin = console.toString();
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        Method method = request.prologue().method();
        if (!method.equals(Method.GET) && !method.equals(Method.POST)) {
            response.header(HeaderNames.ALLOW, "GET, POST");
            Notice.of(405, "Not that way", "The console has GET and POST only.", "")
                    .send(request, response);
        } else if (isOwn(request) || isLink(request, method)) {
            chain.proceed();
        } else {
            Notice.of(
                            403,
                            "From another site",
                            "Another site made your browser ask for this, so it isn't answered.",
                            "Open the page yourself.")
                    .withLink("To the console", "/")
                    .send(request, response);
        }
    }

    /** Whether this console's own pages ask, or the person at the browser. */
    static boolean isOwn(ServerRequest request, String origin) {
        Optional<String> site = header(request, "Sec-Fetch-Site");
        if (site.isPresent()) {
            return site.get().equals("same-origin") || site.get().equals("none");
        }
        return header(request, "Origin").map(origin::equals).orElse(true);
    }

    private boolean isOwn(ServerRequest request) {
        return isOwn(request, origin);
    }

    private static boolean isLink(ServerRequest request, Method method) {
        return method.equals(Method.GET)
                && header(request, "Sec-Fetch-Mode").filter("navigate"::equals).isPresent()
                && header(request, "Sec-Fetch-Dest").filter("document"::equals).isPresent();
    }

    private static Optional<String> header(ServerRequest request, String name) {
        return request.headers().first(HeaderNames.create(name));
    }
}
