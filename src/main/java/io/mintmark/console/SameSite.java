package io.mintmark.console;

import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Refuses what another site makes a browser ask for, but for following a link to a page: by Fetch
 * Metadata, and by {@code Origin} where a browser sends none. Beside that the session's cookie is
 * {@code SameSite=Lax}.
 */
final class SameSite implements Filter {
    /** The methods and headers with which changes may be requested. */
    private static final Map<String, List<String>> WAYS =
            Map.of(
                    "/proof",
                    List.of("GET", "HEAD", "POST"),
                    "/explain",
                    List.of("GET", "HEAD", "POST"),
                    "/requests",
                    List.of("GET", "HEAD", "POST"),
                    "/requests/new",
                    List.of("GET", "HEAD", "POST"),
                    LoginRoutes.LOGOUT,
                    List.of("GET", "POST"),
                    HelidonLogin.REDIRECT,
                    List.of("GET"),
                    HelidonLogin.DONE,
                    List.of("GET"),
                    HelidonLogin.FAILED,
                    List.of("GET"),
                    HelidonLogin.LOGGED_OUT,
                    List.of("GET"));

    private final String origin;
    private final Set<String> files;

    /**
     * @param files the paths of downloads; a link from another site leads to the page above instead
     */
    SameSite(URI console, Set<String> files) {
        this.origin = console.toString();
        this.files = files;
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        String path = request.path().path();
        List<String> ways = WAYS.getOrDefault(path, List.of("GET", "HEAD"));
        if (!ways.contains(request.prologue().method().text())) {
            response.header(HeaderNames.ALLOW, String.join(", ", ways));
            Notice.of(405, "Method not allowed", "This page can only be opened directly.", "")
                    .withLink("To the console", "/")
                    .send(request, response);
        } else if (isOwn(request)) {
            chain.proceed();
        } else if (!isLink(request)) {
            Notice.of(
                            403,
                            "Request from another site",
                            "Another site sent this request, so it was rejected.",
                            "Open the page yourself.")
                    .withLink("To the console", "/")
                    .send(request, response);
        } else if (files.contains(path)) {
            String query = request.query().rawValue();
            String page = path.substring(0, path.lastIndexOf('/'));
            String location = page + (query.isEmpty() ? "" : "?" + query);
            response.status(Status.SEE_OTHER_303).header(HeaderNames.LOCATION, location).send();
        } else {
            chain.proceed();
        }
    }

    /**
     * Whether the request comes from the console's own pages, or from the person at the browser.
     */
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

    private static boolean isLink(ServerRequest request) {
        return request.prologue().method().equals(Method.GET)
                && header(request, "Sec-Fetch-Mode").filter("navigate"::equals).isPresent()
                && header(request, "Sec-Fetch-Dest").filter("document"::equals).isPresent();
    }

    private static Optional<String> header(ServerRequest request, String name) {
        return request.headers().first(HeaderNames.create(name));
    }
}
