package io.mintmark.identity;

import com.nimbusds.oauth2.sdk.ClientCredentialsGrant;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;

import io.mintmark.identity.NoBrokerTokenException.Kind;
import io.mintmark.outbound.GuardedHttp;
import io.mintmark.outbound.OutboundFailure;
import io.mintmark.outbound.Post;
import io.mintmark.outbound.Secret;
import io.mintmark.outbound.TokenReply;
import io.mintmark.outbound.TokenReply.Denied;
import io.mintmark.outbound.TokenReply.Given;
import io.mintmark.outbound.TokenReply.Unreadable;

import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.stream.Stream;

/** Asks an authorization server for a token of the broker's (RFC 6749 section 4.4). */
final class AuthorizationServer implements TokenService {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

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

    /** Discovery is asked each time: a token lives long enough for that, and addresses change. */
    @Override
    public IssuedToken issue() {
        URI endpoint =
                access.tokenEndpoint()
                        .orElseGet(() -> discovery.tokenEndpoint(access.issuer().orElseThrow()));
        Instant asked = clock.instant();
        return switch (reply(request(endpoint))) {
            case Given given -> issued(given, asked);
            case Denied denied -> throw IdpFailures.of(withoutSecrets(denied));
            case Unreadable(String why) -> throw IdpFailures.failed(Kind.FAILED, why);
        };
    }

    private TokenReply reply(Post request) {
        try {
            return TokenReply.of(http.post(request, PATIENCE));
        } catch (OutboundFailure e) {
            throw IdpFailures.of(e);
        }
    }

    private Post request(URI endpoint) {
        var request =
                new TokenRequest.Builder(
                        endpoint, access.client().proof(endpoint), new ClientCredentialsGrant());
        access.scope().map(Scope::parse).ifPresent(request::scope);
        access.audience().ifPresent(audience -> request.customParameter("audience", audience));
        HTTPRequest http = request.build().toHTTPRequest();
        Post post = Post.form(endpoint.toString(), new Secret(http.getBody()));
        return Optional.ofNullable(http.getAuthorization())
                .map(header -> post.authorized(new Secret(header)))
                .orElse(post);
    }

    /** It lives as long as both the answer and the token itself say. */
    private static IssuedToken issued(Given given, Instant asked) {
        Optional<Instant> own = TokenWords.of(given.token()).flatMap(TokenWords::expiry);
        Instant expiry =
                Stream.concat(given.lifetime().map(asked::plus).stream(), own.stream())
                        .min(Instant::compareTo)
                        .orElseThrow(() ->
                                IdpFailures.failed(
                                        Kind.FAILED,
                                        "its answer has no expires_in, and the token no exp"));
        if (!expiry.isAfter(asked)) {
            throw IdpFailures.failed(
                    Kind.FAILED,
                    "its token had expired at %s already; does the clock go wrong?"
                            .formatted(expiry));
        }
        return new IssuedToken(given.token(), expiry);
    }

    /** A server may quote what it was sent. */
    private Denied withoutSecrets(Denied denied) {
        return new Denied(
                denied.status(),
                denied.error().map(words -> access.client().withoutSecret(words)),
                denied.description().map(words -> access.client().withoutSecret(words)));
    }
}
