package io.mintmark.console;

import io.helidon.common.context.Contexts;
import io.helidon.common.uri.UriQuery;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Handles the end of a login and of a session. */
final class LoginRoutes implements Filter {
    static final String LOGOUT = "/logout";
    static final String LOGIN = "/login"; // replaces a session whose token is too old

    private static final Logger log = LoggerFactory.getLogger(LoginRoutes.class);
    private static final List<String> OF_AN_ANSWER =
            List.of("code", "state", "iss", "error", "error_description");

    private static final HeaderName REFRESH = HeaderNames.create("Refresh");

    /** Characters of an ID token that a redirect to the identity provider may name. */
    private static final int LONGEST_HINT = 2_000;

    private final URI console;
    private final LoginEndpoints endpoints;
    private final String clientId;
    private final HelidonLogin login;
    private final Sessions sessions;
    private final ConsoleMetrics metrics;
    private final Set<String> sections;

    /**
     * @param console where browsers reach the console
     * @param pages the paths of the pages
     */
    LoginRoutes(
            URI console,
            LoginEndpoints endpoints,
            String clientId,
            HelidonLogin login,
            Sessions sessions,
            ConsoleMetrics metrics,
            Set<String> pages) {
        this.console = console;
        this.endpoints = endpoints;
        this.clientId = clientId;
        this.login = login;
        this.sessions = sessions;
        this.metrics = metrics;
        this.sections =
                pages.stream()
                        .map(LocalAddress::firstSegment)
                        .collect(Collectors.toUnmodifiableSet());
    }

    void register(HttpRouting.Builder routing) {
        routing.addFeature(login.redirectEndpoint())
                .get(HelidonLogin.DONE, this::done)
                .get(HelidonLogin.FAILED, LoginRoutes::notExchanged)
                .get(LOGIN, (request, response) -> login.begin(next(request)).send(response))
                .get(LOGOUT, this::logout)
                .post(LOGOUT, this::logout)
                .get(HelidonLogin.LOGGED_OUT, LoginRoutes::loggedOut);
    }

    /** Checks the identity provider's answer before the library does. */
    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        if (!request.path().rawPath().equals(HelidonLogin.REDIRECT)) {
            proceed(chain, request);
            return;
        }
        Optional<Notice> objection = objection(request);
        if (objection.isPresent()) {
            metrics.loginFailed();
            log.warn("A login failed: {}", objection.get().sentence());
            objection.get().withLink("Log in", "/").send(request, response);
            return;
        }
        // the library's redirect wins over it, and its line of text gives way to a page
        response.header(REFRESH, "0; url=" + HelidonLogin.FAILED);
        // called right before the headers are sent
        response.streamFilter(out -> {
            begin(response);
            return out;
        });
        proceed(chain, request);
        if (response.status().family() != Status.Family.REDIRECTION) {
            metrics.loginFailed();
            log.warn(
                    "A login failed: the response of the identity provider's token endpoint was"
                            + " invalid");
        }
    }

    /**
     * The library has exchanged the code; from now on only the ID token is the session. Its
     * response gets few and small headers, since nginx takes 4 KiB of them by default.
     */
    private void begin(RoutingResponse response) {
        Optional<String> exchanged = login.takeExchanged(response.headers());
        login.withoutLeftovers().forEach(response.headers()::addCookie);
        exchanged.ifPresent(idToken -> begin(response, idToken));
    }

    private void begin(RoutingResponse response, String idToken) {
        sessions.viewer(idToken)
                .ifPresentOrElse(
                        viewer -> {
                            response.headers().addCookie(login.session().of(idToken));
                            metrics.loggedIn();
                            log.info("{} has logged in", viewer.name());
                        },
                        () -> {
                            metrics.loginFailed();
                            log.warn(
                                    "A login failed: the console does not accept the ID token: {}",
                                    sessions.objection(idToken).orElse("it has expired"));
                        });
    }

    /**
     * Continues the filters with a context of the thread, without which the library fails at every
     * request.
     */
    private static void proceed(FilterChain chain, RoutingRequest request) {
        Contexts.runInContext(request.context(), chain::proceed);
    }

    private Optional<Notice> objection(ServerRequest request) {
        UriQuery query = request.query();
        if (query.contains("error")) {
            return Optional.of(refused(query));
        }
        if (!isAnswer(query)) {
            return Optional.of(failed("The identity provider's response is not a login response."));
        }
        Optional<String> begun = login.state(request);
        if (begun.isEmpty()) {
            return Optional.of(failed("This browser has no login in progress."));
        }
        if (!begun.get().equals(query.get("state"))) {
            return Optional.of(failed("A newer login was started in this browser."));
        }
        return sessions.redeem(begun.get())
                ? Optional.empty()
                : Optional.of(failed("This login was already completed."));
    }

    /**
     * Whether a query has one code and one state of the configured issuer (RFC 9207), and none of
     * the library's own parameters.
     */
    private boolean isAnswer(UriQuery query) {
        boolean once =
                OF_AN_ANSWER.stream()
                        .filter(query::contains)
                        .allMatch(name -> query.all(name).size() == 1);
        return once
                && query.contains("code")
                && query.contains("state")
                && !query.contains(HelidonLogin.TENANT_PARAMETER)
                && query.first("iss").asOptional().map(endpoints.issuer()::equals).orElse(true);
    }

    private static Notice refused(UriQuery query) {
        String description = query.first("error_description").asOptional().orElse("no description");
        return Notice.of(
                403,
                "Not logged in",
                "The identity provider returned %s: %s."
                        .formatted(cut(query.first("error").orElse("")), cut(description)),
                "Try again, or ask the identity provider's administrators.");
    }

    private static Notice failed(String sentence) {
        return Notice.of(
                401,
                "Not logged in",
                sentence,
                "Log in again. This happens if two tabs log in at the same time, or if you open an"
                        + " old URL.");
    }

    private static String cut(String text) {
        int longest = 300;
        return text.length() > longest ? text.substring(0, longest) + "…" : text;
    }

    /** Answers a browser that the library sends here after the exchange of its code. */
    private void done(ServerRequest request, ServerResponse response) {
        if (login.session().read(request).flatMap(sessions::viewer).isEmpty()) {
            log.warn("A login succeeded, but the browser kept no session");
            Notice.of(
                            401,
                            "Not logged in",
                            "The login succeeded, but your browser kept no session.",
                            "Possible causes: a reverse proxy that accepts less than 4 KiB of response headers (nginx: proxy_buffer_size), several consoles behind one address without sticky sessions, an ID token over 16 KiB (reduce its claims), a wrong clock, an ID token that the console does not accept (its log says why), or a browser that rejects cookies.")
                    .withLink("Log in again", "/")
                    .send(request, response);
            return;
        }
        response.status(Status.SEE_OTHER_303)
                .header(HeaderNames.LOCATION, next(request).text())
                .send();
    }

    /** The page that a login returns to. */
    private LocalAddress next(ServerRequest request) {
        return request.query()
                .first(HelidonLogin.TO)
                .asOptional()
                .flatMap(LocalAddress::of)
                .filter(address -> address.isPage(sections))
                .orElse(LocalAddress.START);
    }

    private static void notExchanged(ServerRequest request, ServerResponse response) {
        Notice.of(
                        401,
                        "Not logged in",
                        "The identity provider rejected the login's code, or its response "
                                + "was invalid.",
                        "Log in again. If the login fails each time, compare the console's client"
                                + " id, secret and redirect URL with the identity provider's.")
                .withLink("Log in", "/")
                .send(request, response);
    }

    /** Ends the session here and at the identity provider (RP-Initiated Logout 1.0 section 2). */
    private void logout(ServerRequest request, ServerResponse response) {
        if (!SameSite.isOwn(request, console.toString())) {
            Notice.of(200, "Log out?", "Another site sent you here.", "You are still logged in.")
                    .withLink("Log out", LOGOUT)
                    .send(request, response);
            return;
        }
        Optional<String> idToken = login.session().read(request);
        idToken.flatMap(sessions::end)
                .ifPresent(viewer -> log.info("{} has logged out", viewer.name()));
        login.withoutLeftovers().forEach(response.headers()::addCookie);
        response.headers().addCookie(login.session().removed());
        response.status(Status.SEE_OTHER_303)
                .header(HeaderNames.LOCATION, afterLogout(idToken.filter(sessions::isOurs)))
                .send();
    }

    private String afterLogout(Optional<String> idToken) {
        String back = console + HelidonLogin.LOGGED_OUT;
        return endpoints
                .endSession()
                .map(place ->
                        place
                                + (place.getRawQuery() == null ? "?" : "&")
                                + "client_id="
                                + encoded(clientId)
                                + "&post_logout_redirect_uri="
                                + encoded(back)
                                + idToken.filter(token -> token.length() <= LONGEST_HINT)
                                        .map(token -> "&id_token_hint=" + encoded(token))
                                        .orElse(""))
                .orElse(back);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static void loggedOut(ServerRequest request, ServerResponse response) {
        Notice.of(
                        200,
                        "Logged out",
                        "Your session has ended.",
                        "If you share this browser, close it.")
                .withLink("Log in again", "/")
                .send(request, response);
    }
}
