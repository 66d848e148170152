package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.JsonNode;

import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.RequestRefusal;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.token.PresentedToken;

import java.util.List;
import java.util.function.Supplier;

/**
 * Where a token may be in a request, in order of precedence (HTTP API section 5.2). A header that
 * is present wins whatever it contains, so that its token is never replaced by another from a place
 * of lower precedence.
 */
final class TokenPlaces {
    private static final String BEARER = "Bearer ";
    private static final String PARAMETER = "token";
    private static final String MEMBER = "oidcToken";

    private TokenPlaces() {}

    /** For GET: the header, then the query. */
    static Verdict<PresentedToken> inHeaderOrQuery(ServerRequest request) {
        return inHeader(request, () -> inQuery(request));
    }

    /** For POST: the header, then the body. */
    static Verdict<PresentedToken> inHeaderOrBody(ServerRequest request, JsonNode body) {
        return inHeader(request, () -> token(body.path(MEMBER).asText()));
    }

    /** The header alone, for bodies that are something else. */
    static Verdict<PresentedToken> inHeader(ServerRequest request) {
        return inHeader(request, () -> token(""));
    }

    /** For AWS SDKs: the header alone, which may hold the token without its scheme. */
    static Verdict<PresentedToken> inHeaderPerhapsBare(ServerRequest request) {
        return header(request)
                .then(given ->
                        token(isBearer(given) || given.contains(" ") ? bearer(given) : given));
    }

    private static Verdict<PresentedToken> inHeader(
            ServerRequest request, Supplier<Verdict<PresentedToken>> elsewhere) {
        return request.headers().contains(HeaderNames.AUTHORIZATION)
                ? header(request).then(given -> token(bearer(given)))
                : elsewhere.get();
    }

    /** What the header holds; nothing if there is none. */
    private static Verdict<String> header(ServerRequest request) {
        List<String> given = request.headers().values(HeaderNames.AUTHORIZATION);
        return switch (given.size()) {
            case 0 -> Verdict.passed("");
            case 1 -> Verdict.passed(given.getFirst());
            default ->
                    Verdict.refused(
                            new RequestRefusal.BadField(
                                    "Authorization",
                                    "The request has several Authorization headers; send one."));
        };
    }

    private static boolean isBearer(String header) {
        return header.regionMatches(true, 0, BEARER, 0, BEARER.length());
    }

    private static String bearer(String header) {
        return isBearer(header) ? header.substring(BEARER.length()).strip() : "";
    }

    private static Verdict<PresentedToken> inQuery(ServerRequest request) {
        List<String> given =
                request.query().contains(PARAMETER) ? request.query().all(PARAMETER) : List.of();
        return switch (given.size()) {
            case 0 -> token("");
            case 1 -> token(given.getFirst());
            default ->
                    Verdict.refused(
                            new RequestRefusal.BadField(
                                    PARAMETER,
                                    "The request has several 'token' parameters; " + "send one."));
        };
    }

    private static Verdict<PresentedToken> token(String text) {
        return text.isEmpty()
                ? Verdict.refused(new TokenRefusal.NoTokenProvided())
                : Verdict.passed(new PresentedToken(new Secret(text)));
    }
}
