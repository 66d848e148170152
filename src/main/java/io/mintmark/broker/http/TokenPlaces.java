package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.JsonNode;

import io.helidon.http.HeaderName;
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
    /** The header with the actor's token, with or without {@code Bearer}. */
    static final HeaderName ACTOR = HeaderNames.create("Mintmark-Actor-Token");

    private static final String BEARER = "Bearer ";
    private static final String PARAMETER = "token";

    /** The member of a body that may hold the token. */
    static final String MEMBER = "oidcToken";

    private TokenPlaces() {}

    /** Reads the token of a GET: from the header, then from the query. */
    static Verdict<PresentedToken> inHeaderOrQuery(ServerRequest request) {
        return withActor(request, inHeader(request, () -> inQuery(request)));
    }

    /** Reads the token of a POST: from the header, then from the body. */
    static Verdict<PresentedToken> inHeaderOrBody(ServerRequest request, JsonNode body) {
        return withActor(request, inHeader(request, () -> token(body.path(MEMBER).asText())));
    }

    /** Reads the token from the header alone, for bodies of other formats. */
    static Verdict<PresentedToken> inHeader(ServerRequest request) {
        return withActor(request, inHeader(request, () -> token("")));
    }

    /**
     * Reads the token for AWS SDKs: from the header alone, which may contain the token without a
     * scheme.
     */
    static Verdict<PresentedToken> inHeaderPerhapsBare(ServerRequest request) {
        return withActor(
                request,
                header(request, HeaderNames.AUTHORIZATION).then(given -> token(bare(given))));
    }

    /** The token with that of an actor beside it, which has a header of its own. */
    static Verdict<PresentedToken> withActor(ServerRequest request, Verdict<PresentedToken> token) {
        return request.headers().contains(ACTOR)
                ? token.then(subject -> actor(request).map(subject::actingBy))
                : token;
    }

    private static Verdict<Secret> actor(ServerRequest request) {
        return header(request, ACTOR)
                .then(given ->
                        bare(given).isEmpty()
                                ? Verdict.refused(
                                        new RequestRefusal.BadField(
                                                ACTOR.defaultCase(),
                                                "The header %s has no token; send the actor's token in it, or leave out the header."
                                                        .formatted(ACTOR.defaultCase())))
                                : Verdict.passed(new Secret(bare(given))));
    }

    /** A token with its scheme or without. */
    private static String bare(String header) {
        return isBearer(header) || header.contains(" ") ? bearer(header) : header;
    }

    private static Verdict<PresentedToken> inHeader(
            ServerRequest request, Supplier<Verdict<PresentedToken>> elsewhere) {
        return request.headers().contains(HeaderNames.AUTHORIZATION)
                ? header(request, HeaderNames.AUTHORIZATION).then(given -> token(bearer(given)))
                : elsewhere.get();
    }

    /** The token of the header; empty if there is none. */
    private static Verdict<String> header(ServerRequest request, HeaderName name) {
        List<String> given = request.headers().values(name);
        return switch (given.size()) {
            case 0 -> Verdict.passed("");
            case 1 -> Verdict.passed(given.getFirst());
            default ->
                    Verdict.refused(
                            new RequestRefusal.BadField(
                                    name.defaultCase(),
                                    "The request has several %s headers; send one."
                                            .formatted(name.defaultCase())));
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
