package io.mintmark.provider.web;

import io.mintmark.base.outbound.OAuthErrorCode;
import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.Sender;
import io.mintmark.base.outbound.TokenReply;
import io.mintmark.base.outbound.TokenReply.Denied;
import io.mintmark.base.outbound.TokenReply.Given;
import io.mintmark.base.outbound.TokenReply.Unfit;
import io.mintmark.base.outbound.TokenReply.Unreadable;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.Undo;
import io.mintmark.provider.web.Step.Done;
import io.mintmark.provider.web.Step.Stopped;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
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
     * Requests a token, as a credential. A token without a lifetime is withheld, because its expiry
     * is unknown.
     *
     * @param posts makes the request of each attempt, for requests that work only once
     * @param own this server's meanings of errors, where they differ from the standard
     * @param further non-secret fields besides the credential's own
     */
    public MintResult credential(
            MintOrder order,
            Endpoint endpoint,
            Supplier<OutboundRequest> posts,
            Function<Denied, Optional<Reason>> own,
            Map<String, String> further) {
        return credential(order, endpoint, posts, own, further, _ -> Optional.empty());
    }

    /**
     * Gets a token of a server that can end its tokens.
     *
     * @param undo how a token is ended
     */
    public MintResult credential(
            MintOrder order,
            Endpoint endpoint,
            Supplier<OutboundRequest> posts,
            Function<Denied, Optional<Reason>> own,
            Map<String, String> further,
            Function<Secret, Optional<Undo>> undo) {
        return switch (calls.post(order, endpoint, posts)
                .then(reply -> token(reply, endpoint, own, undo))) {
            case Stopped<TimedToken>(MintResult.NotMinted why) -> why;
            case Done<TimedToken>(TimedToken token) ->
                    endedBy(credential(token, endpoint, further), undo.apply(token.text()));
        };
    }

    private static MintResult endedBy(MintResult result, Optional<Undo> undo) {
        return switch (result) {
            case MintResult.Minted minted -> undo.map(minted::endedBy).orElse(minted);
            case MintResult.Withheld withheld -> undo.map(withheld::endedBy).orElse(withheld);
            case MintResult.Failed failed -> failed;
            case MintResult.NotCalled not -> not;
        };
    }

    /**
     * Revokes a token (RFC 7009).
     *
     * @param posts makes the request of each attempt: for what works only once
     * @return why the token may still work; empty if it has ended
     */
    public Optional<String> revocation(
            Sender sender, Instant deadline, Endpoint endpoint, Supplier<OutboundRequest> posts) {
        return switch (calls.send(sender, deadline, endpoint, posts)) {
            case Stopped<Reply>(MintResult.NotMinted why) -> Optional.of(why.detail());
            case Done<Reply>(Reply reply) when reply.isSuccess() -> Optional.empty();
            case Done<Reply>(Reply reply) ->
                    Optional.of(
                            TokenReply.of(reply) instanceof Denied denied
                                    ? denied.quote()
                                    : "HTTP " + reply.status());
        };
    }

    /** The credential that consists of this token, if its expiry is known. */
    public static MintResult credential(
            TimedToken token, Endpoint endpoint, Map<String, String> further) {
        Map<String, String> fields = new HashMap<>(further);
        token.scope().ifPresent(scope -> fields.put(Minted.SCOPE, scope));
        return token.expiresAt()
                .<MintResult>map(expiry -> Minted.ofToken(token.text(), expiry, fields))
                .orElseGet(() -> Calls.withheld(token, "the response has no expires_in", endpoint));
    }

    /** The token of an answer. */
    public Step<TimedToken> token(
            Reply reply, Endpoint endpoint, Function<Denied, Optional<Reason>> own) {
        return token(reply, endpoint, own, _ -> Optional.empty());
    }

    private Step<TimedToken> token(
            Reply reply,
            Endpoint endpoint,
            Function<Denied, Optional<Reason>> own,
            Function<Secret, Optional<Undo>> undo) {
        return switch (TokenReply.of(reply)) {
            case Given(var token, var lifetime, var scope) ->
                    new Done<>(new TimedToken(token, expiry(lifetime), scope));
            case Unfit(var token, var lifetime, String why) ->
                    new Stopped<>(
                            Calls.withheld(new TimedToken(token, expiry(lifetime)), why, endpoint)
                                    .endedBy(undo.apply(token)));
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
