package io.mintmark.console;

import io.helidon.http.Method;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.mintmark.base.http.request.MatchedRoute;
import io.mintmark.base.outbound.Secret;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Lets users with access through, with a {@link Viewer} in the request's context, and redirects
 * everybody else to the identity provider. Public paths are listed here and compared exactly; any
 * other spelling requires a login.
 */
final class LoginFilter implements Filter {
    private static final Logger log = LoggerFactory.getLogger(LoginFilter.class);

    private static final Set<String> OPEN =
            Set.of(
                    HelidonLogin.REDIRECT,
                    HelidonLogin.DONE,
                    HelidonLogin.FAILED,
                    HelidonLogin.LOGGED_OUT,
                    LoginRoutes.LOGIN,
                    LoginRoutes.LOGOUT,
                    ConsoleHealth.PATH,
                    ConsoleLiveness.PATH);
    private static final Pattern STYLE =
            Pattern.compile("/style/[a-z]{1,32}+(?:\\.[a-z]{1,32}+){0,3}");
    private static final String IN_LOG = "viewer";

    private final HelidonLogin login;
    private final Sessions sessions;
    private final ConsoleAccess access;

    LoginFilter(HelidonLogin login, Sessions sessions, ConsoleAccess access) {
        this.login = login;
        this.sessions = sessions;
        this.access = access;
    }

    @Override
    public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
        String path = request.path().rawPath();
        if (!LocalAddress.isPlainPath(path)) {
            Notice.of(
                            404,
                            "No such page",
                            "No page has this URL.",
                            "Remove empty segments, “.” and “..” from the path.")
                    .withLink("To the overview", "/")
                    .send(request, response);
        } else if (OPEN.contains(path) || isStyle(path)) {
            chain.proceed();
        } else {
            Optional<String> token = login.session().read(request);
            token.flatMap(sessions::viewer)
                    .ifPresentOrElse(
                            viewer -> {
                                token.map(Secret::new)
                                        .map(SessionToken::new)
                                        .ifPresent(request.context()::register);
                                show(viewer, chain, request, response);
                            },
                            () -> begin(request, response));
        }
    }

    /** Whether the path is one of the files that every page loads. */
    static boolean isStyle(String path) {
        return STYLE.matcher(path).matches();
    }

    private void show(
            Viewer viewer, FilterChain chain, RoutingRequest request, RoutingResponse response) {
        MDC.put(IN_LOG, viewer.name());
        if (access.has(viewer)) {
            request.context().register(viewer);
            // for the line of the access log
            request.context().register(new MatchedRoute(request.path().rawPath()));
            chain.proceed();
        } else {
            log.warn(
                    "{} logged in but has no access: no row of broker.console_access matches the claims of the ID token",
                    viewer.name());
            ConsoleAccess.refusal(viewer).send(request, response);
        }
    }

    /** A form that was filled in before the session ended isn't sent to the identity provider. */
    private void begin(RoutingRequest request, RoutingResponse response) {
        if (request.prologue().method().equals(Method.POST)) {
            Notice.of(
                            401,
                            "Logged out",
                            "Your session has ended; nothing was changed.",
                            "Log in again, and repeat the action.")
                    .withLink("Log in", "/")
                    .send(request, response);
            return;
        }
        String query = request.query().rawValue();
        String asked = request.path().rawPath() + (query.isEmpty() ? "" : "?" + query);
        login.begin(LocalAddress.of(asked).orElse(LocalAddress.START)).send(response);
    }
}
