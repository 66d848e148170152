package io.mintmark.broker.identity;

import io.mintmark.base.outbound.FormBody;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.TokenReply;
import io.mintmark.base.outbound.TokenReply.Denied;
import io.mintmark.base.outbound.TokenReply.Given;
import io.mintmark.base.outbound.TokenReply.Unfit;
import io.mintmark.base.outbound.TokenReply.Unreadable;
import io.mintmark.provider.identity.NoBrokerTokenException.Kind;
import io.mintmark.provider.identity.UnverifiedClaims;

import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.stream.Stream;

/** Asks an authorization server for a token of the broker's (RFC 6749 section 4.4). */
final class AuthorizationServer implements TokenService {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final IdpAccess access;
    private final GuardedHttp http;
    private final Discovery discovery;
    private final InstantSource clock;

    AuthorizationServer(IdpAccess access, GuardedHttp http, InstantSource clock) {
        this.access = access;
        this.http = http;
        this.discovery = new Discovery(http);
        this.clock = clock;
    }

    /**
     * Requests a token. Discovery is read each time, because URLs change and a token is valid for
     * long enough.
     */
    @Override
    public IssuedToken issue() {
        URI endpoint =
                access.tokenEndpoint()
                        .orElseGet(() -> discovery.tokenEndpoint(access.issuer().orElseThrow()));
        Instant asked = clock.instant();
        return switch (reply(request(endpoint))) {
            case Given given -> issued(given, asked);
            case Denied denied -> throw IdpFailures.of(denied);
            case Unfit(_, _, String why) -> throw IdpFailures.failed(Kind.FAILED, why);
            case Unreadable(String why) -> throw IdpFailures.failed(Kind.FAILED, why);
        };
    }

    private TokenReply reply(OutboundRequest request) {
        try {
            return TokenReply.of(http.post(request, TIMEOUT));
        } catch (OutboundFailure e) {
            throw IdpFailures.of(e);
        }
    }

    private OutboundRequest request(URI endpoint) {
        FormBody parameters =
                new FormBody()
                        .with("grant_type", "client_credentials")
                        .with("scope", access.scope())
                        .with("audience", access.audience());
        return access.client().request(parameters, endpoint);
    }

    /**
     * Makes the token from a response. It expires at the earlier one of two times: the response's,
     * and the token's own.
     */
    private static IssuedToken issued(Given given, Instant asked) {
        Optional<UnverifiedClaims> words = UnverifiedClaims.of(given.token());
        if (words.isEmpty() && UnverifiedClaims.isFormed(given.token())) {
            throw IdpFailures.failed(
                    Kind.FAILED, "the token is a JWT that parsers could read differently");
        }
        Optional<Instant> own = words.flatMap(UnverifiedClaims::expiry);
        Instant expiry =
                Stream.concat(given.lifetime().map(asked::plus).stream(), own.stream())
                        .min(Instant::compareTo)
                        .orElseThrow(() ->
                                IdpFailures.failed(
                                        Kind.FAILED,
                                        "neither the response (expires_in) nor the token (exp)"
                                                + " says when the token expires"));
        if (!expiry.isAfter(asked)) {
            throw IdpFailures.failed(
                    Kind.FAILED,
                    "the token expired at %s, before it arrived; check both clocks"
                            .formatted(expiry));
        }
        return new IssuedToken(given.token(), expiry);
    }
}
