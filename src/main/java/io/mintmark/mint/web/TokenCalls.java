package io.mintmark.mint.web;

import io.mintmark.mint.Endpoint;
import io.mintmark.mint.MintOrder;
import io.mintmark.mint.MintResult;
import io.mintmark.mint.MintResult.Minted;
import io.mintmark.mint.web.Step.Done;
import io.mintmark.mint.web.Step.Stopped;
import io.mintmark.outbound.OAuthErrorCode;
import io.mintmark.outbound.Post;
import io.mintmark.outbound.Reply;
import io.mintmark.outbound.TokenReply;
import io.mintmark.outbound.TokenReply.Denied;
import io.mintmark.outbound.TokenReply.Given;
import io.mintmark.outbound.TokenReply.Unfit;
import io.mintmark.outbound.TokenReply.Unreadable;
import io.mintmark.verdict.MintRefusal.Reason;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/** Asks the token endpoint of an authorization server for a token. */
public final class TokenCalls {
    private final Calls calls;
    private final InstantSource clock;

    public TokenCalls(Calls calls, InstantSource clock) {
        this.calls = calls;
        this.clock = clock;
    }

    /**
     * What the endpoint gives for a request, as a credential. Without a lifetime it is withheld,
     * since nobody could say until when it works.
     *
     * @param posts makes the request of each attempt: for what works only once
     * @param own what this kind of server means by some of its errors, where it isn't what the
     *     standard says
     * @param further fields beside the credential's own, none of them secret
     */
    public MintResult credential(
            MintOrder order,
            Endpoint endpoint,
            Supplier<Post> posts,
            Function<Denied, Optional<Reason>> own,
            Map<String, String> further) {
        return switch (calls.post(order, endpoint, posts)
                .then(reply -> token(reply, endpoint, own))) {
            case Stopped<TimedToken>(MintResult.NotMinted why) -> why;
            case Done<TimedToken>(TimedToken token) -> credential(token, endpoint, further);
        };
    }

    /** A credential that is this token, if it says until when it works. */
    public static MintResult credential(
            TimedToken token, Endpoint endpoint, Map<String, String> further) {
        return token.expiresAt()
                .<MintResult>map(expiry -> Minted.ofToken(token.text(), expiry, further))
                .orElseGet(() ->
                        Calls.withheld(
                                token,
                                "the answer doesn't say how long the token lives (expires_in)",
                                endpoint));
    }

    /** The token of an answer. */
    public Step<TimedToken> token(
            Reply reply, Endpoint endpoint, Function<Denied, Optional<Reason>> own) {
        return switch (TokenReply.of(reply)) {
            case Given(var token, var lifetime) ->
                    new Done<>(new TimedToken(token, expiry(lifetime)));
            case Unfit(var token, var lifetime, String why) ->
                    new Stopped<>(
                            Calls.withheld(new TimedToken(token, expiry(lifetime)), why, endpoint));
            case Denied denied ->
                    new Stopped<>(
                            Calls.failed(
                                    own.apply(denied).orElseGet(() -> meaning(denied.meaning())),
                                    denied.quote(),
                                    endpoint));
            case Unreadable(String why) ->
                    new Stopped<>(Calls.failed(Reason.PROVIDER_ERROR, why, endpoint));
        };
    }

    private Optional<Instant> expiry(Optional<Duration> lifetime) {
        return lifetime.map(clock.instant()::plus);
    }

    private static Reason meaning(OAuthErrorCode error) {
        return switch (error) {
            case NOT_ACCEPTED -> Reason.BROKER_IDENTITY_REJECTED;
            case NOT_PERMITTED, TARGET_REFUSED -> Reason.PROVIDER_REJECTED;
            case MALFORMED -> Reason.PROVIDER_MISCONFIGURED;
            case THROTTLED -> Reason.PROVIDER_THROTTLED;
            case OTHER -> Reason.PROVIDER_ERROR;
        };
    }
}
