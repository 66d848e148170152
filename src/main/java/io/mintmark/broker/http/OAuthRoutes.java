package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.base.http.request.MatchedRoute;
import io.mintmark.base.verdict.AccessRefusal;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.RequestRefusal.BadField;
import io.mintmark.base.verdict.RequestRefusal.KeyOfOtherType;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.exchange.CredentialFormat;
import io.mintmark.broker.exchange.Credentials;
import io.mintmark.broker.exchange.Exchange;
import io.mintmark.broker.exchange.KeySelection;
import io.mintmark.broker.http.TokenExchangeForm.Grant;
import io.mintmark.broker.token.PresentedToken;

import org.slf4j.MDC;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Token exchange (RFC 8693) and assertions (RFC 7523) for clients that have an OAuth 2.0 library,
 * and the metadata by which they find them (RFC 8414).
 */
final class OAuthRoutes implements HttpService {
    static final String TOKEN = "/oauth2/token";

    /** Serves what {@link #TOKEN} does, where clients of Azure look for it without metadata. */
    static final String TOKEN_OF_TENANT = "/tenants/{tenant}/oauth2/v2.0/token";

    static final String METADATA = "/.well-known/oauth-authorization-server";

    private static final String SCOPE = "scope";
    private static final String BASIC = "Basic ";
    private static final String ACCESS_TOKEN = "access_token";
    private static final Map<String, String> OUTPUTS = Map.of(ACCESS_TOKEN, "AccessToken");

    /** RFC 6749 section 5.1: the granted scope is returned, whatever the client requested. */
    private static final Map<String, String> OPTIONAL_OUTPUTS = Map.of(SCOPE, "Scope");

    /** The type of access provider whose tokens are JWTs of the broker. */
    private static final String JWT_TYPE = "jwt";

    private static final HeaderName PROOF_OF_POSSESSION = HeaderNames.create("DPoP");

    /** RFC 6749 section 5.1 wants it beside {@code Cache-Control}. */
    private static final Header NOT_KEPT =
            HeaderValues.createCached(HeaderNames.PRAGMA, "no-cache");

    private static final Header KEPT =
            HeaderValues.createCached(HeaderNames.CACHE_CONTROL, "public, max-age=300");

    private final Exchange exchange;
    private final CredentialFormat format;
    private final MintRequests requests;
    private final Answers answers;
    private final Optional<URI> issuer;

    /**
     * @param issuer the broker's own address, if it knows it
     */
    OAuthRoutes(Exchange exchange, MintRequests requests, Answers answers, Optional<URI> issuer) {
        this.exchange = exchange;
        this.format = exchange.format(OUTPUTS, OPTIONAL_OUTPUTS);
        this.requests = requests;
        this.answers = answers;
        this.issuer = issuer;
    }

    @Override
    public void routing(HttpRules rules) {
        rules.post(TOKEN, MatchedRoute.of(TOKEN, this::token))
                .post(TOKEN_OF_TENANT, MatchedRoute.of(TOKEN_OF_TENANT, this::token))
                .get(METADATA, MatchedRoute.of(METADATA, this::metadata));
    }

    private void token(ServerRequest request, ServerResponse response) {
        response.header(NOT_KEPT);
        byte[] body = Bodies.form(request);
        if (hasForeignAuthorization(request)) {
            refuse(request, response, OAuthError.invalidClient());
            return;
        }
        if (request.headers().contains(PROOF_OF_POSSESSION)) {
            refuse(
                    request,
                    response,
                    OAuthError.of(
                            "invalid_request",
                            "The header DPoP (RFC 9449) is not supported: tokens are bearer tokens."
                                    + " Remove the header."));
            return;
        }
        switch (FormParameters.of(body, TokenExchangeForm.REPEATABLE)) {
            case Verdict.Refused<FormParameters>(var refusal) ->
                    refuse(request, response, OAuthError.of(refusal));
            case Verdict.Passed<FormParameters>(FormParameters form) ->
                    exchange(request, response, TokenExchangeForm.of(form));
        }
    }

    private void exchange(ServerRequest request, ServerResponse response, TokenExchangeForm form) {
        switch (form) {
            case TokenExchangeForm.Invalid(OAuthError error) -> refuse(request, response, error);
            case TokenExchangeForm.Valid valid -> {
                CredentialFormat wanted = valid.wantsJwt() ? format.only(JWT_TYPE) : format;
                Verdict<Credentials> verdict =
                        withActor(request, valid.token())
                                .map(both ->
                                        requests.of(
                                                request,
                                                both,
                                                keys(request, valid.target()),
                                                Optional.empty(),
                                                wanted))
                                .then(exchange::mint);
                if (!(verdict instanceof Verdict.Refused<Credentials>(TokenRefusal _))) {
                    valid.clientId().ifPresent(id -> MDC.put("oauthClientId", id));
                }
                answers.send(
                        request,
                        response,
                        verdict,
                        credentials -> body(credentials, valid),
                        refusal -> error(refusal, valid));
            }
        }
    }

    private static KeySelection keys(ServerRequest request, TargetKeys target) {
        Optional<String> tenant = request.path().pathParameters().first("tenant").asOptional();
        return tenant.map(target::inTenant).orElse(target);
    }

    private static OAuthError error(Refusal refusal, TokenExchangeForm.Valid form) {
        TargetKeys target = form.target();
        if (refusal instanceof TokenRefusal token) {
            return switch (form.grant()) {
                case TOKEN_EXCHANGE -> OAuthError.of(token);
                case JWT_BEARER -> OAuthError.invalidGrant(token);
                case CLIENT_CREDENTIALS -> OAuthError.invalidClient(token);
            };
        }
        if (refusal instanceof KeyOfOtherType key && form.wantsJwt()) {
            return OAuthError.of(
                    "invalid_request",
                    "Key '%s' can't issue a JWT of the broker, because its type is %s; the requested_token_type must be %s."
                            .formatted(key.key(), key.type(), TokenExchangeForm.ACCESS_TOKEN));
        }
        // alike for a resource without a key and for one whose key isn't granted
        return refusal instanceof AccessRefusal && target.audience().isEmpty()
                ? OAuthError.of("invalid_target", target.ungranted())
                : OAuthError.of(refusal);
    }

    /**
     * Whether the header {@code Authorization} has another scheme than Basic, or appears twice.
     * Basic authenticates a client, which has no effect; another scheme could be meant to authorize
     * the request.
     */
    private static boolean hasForeignAuthorization(ServerRequest request) {
        if (!request.headers().contains(HeaderNames.AUTHORIZATION)) {
            return false;
        }
        List<String> given = request.headers().get(HeaderNames.AUTHORIZATION).allValues();
        return given.size() != 1
                || !given.getFirst().regionMatches(true, 0, BASIC, 0, BASIC.length());
    }

    /** The header is for clients that can't set the parameter. */
    private static Verdict<PresentedToken> withActor(ServerRequest request, PresentedToken token) {
        if (token.actor().isPresent() && request.headers().contains(TokenPlaces.ACTOR)) {
            String header = TokenPlaces.ACTOR.defaultCase();
            return Verdict.refused(
                    new BadField(
                            header,
                            "Send the actor's token as actor_token or in the header %s, not both."
                                    .formatted(header)));
        }
        return TokenPlaces.withActor(request, Verdict.passed(token));
    }

    private void refuse(ServerRequest request, ServerResponse response, OAuthError error) {
        if (error.error().equals("invalid_client")) {
            response.header(
                    HeaderValues.create(HeaderNames.WWW_AUTHENTICATE, "Basic realm=\"mintmark\""));
        }
        answers.refuse(request, response, new BadField("body", error.description()), error);
    }

    private static ObjectNode body(Credentials credentials, TokenExchangeForm.Valid form) {
        var credential = credentials.byKey().entrySet().iterator().next();
        ObjectNode body = Json.object();
        credential.getValue().forEach((name, secret) -> body.put(name, secret.reveal()));
        if (form.wantsScope() && !body.has(SCOPE)) {
            // RFC 6749 section 5.1: a scope other than the requested one is named
            body.put(SCOPE, credential.getKey().value());
        }
        if (form.grant() == Grant.TOKEN_EXCHANGE) {
            body.put(
                    "issued_token_type",
                    form.wantsJwt() ? TokenExchangeForm.JWT : TokenExchangeForm.ACCESS_TOKEN);
        }
        return body.put("token_type", "Bearer")
                .put(
                        "expires_in",
                        Duration.between(credentials.issuedAt(), credentials.expiresAt())
                                .toSeconds());
    }

    /**
     * The metadata by which a client finds the token endpoint (RFC 8414 section 2, OpenID Connect
     * Discovery 1.0 section 3).
     *
     * @param broker the broker's own address; without it there is no metadata
     */
    static Map<String, Object> endpointMetadata(Optional<URI> broker) {
        return broker.map(url ->
                        Map.<String, Object>of(
                                // MCP's SDKs and MSAL read no metadata without one; GET gets 405
                                "authorization_endpoint",
                                url + TOKEN,
                                "token_endpoint",
                                url + TOKEN,
                                "grant_types_supported",
                                Grant.types(),
                                "token_endpoint_auth_methods_supported",
                                List.of("none")))
                .orElse(Map.of());
    }

    private void metadata(ServerRequest request, ServerResponse response) {
        if (issuer.isEmpty()) {
            answers.send(
                    request,
                    response,
                    ErrorBody.of(
                            404,
                            "NOT_FOUND",
                            "This broker has no"
                                    + " BROKER_URL, which this document needs; an operator must"
                                    + " set it."));
            return;
        }
        ObjectNode body = Json.object().put("issuer", issuer.get().toString());
        endpointMetadata(issuer).forEach(body::putPOJO);
        body.putArray("response_types_supported");
        response.header(KEPT);
        answers.send(request, response, body);
    }
}
