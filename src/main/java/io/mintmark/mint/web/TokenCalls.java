package io.mintmark.mint.web;

import io.mintmark.mint.Endpoint;
import io.mintmark.mint.web.Step.Done;
import io.mintmark.mint.web.Step.Stopped;
import io.mintmark.outbound.Post;
import io.mintmark.outbound.TokenReply;
import io.mintmark.outbound.TokenReply.Denied;
import io.mintmark.outbound.TokenReply.Given;
import io.mintmark.outbound.TokenReply.Unreadable;
import io.mintmark.verdict.MintRefusal.Reason;

import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;

/** Asks the token endpoint of an authorization server. */
public final class TokenCalls {
    private final Calls calls;

    public TokenCalls(Calls calls) {
        this.calls = calls;
    }

    /**
     * The token that comes back.
     *
     * @param own what this kind of server means by some of its errors, where it isn't what the
     *     standard says
     */
    public Step<Given> token(
            Endpoint endpoint,
            Post post,
            Instant deadline,
            Function<Denied, Optional<Reason>> own) {
        return token(endpoint, _ -> post, deadline, own, UnaryOperator.identity());
    }

    /**
     * The token that comes back.
     *
     * @param posts the request of each attempt, the first being 1: for what works only once
     * @param own as above
     * @param fit takes out of what the server says what it must not tell others
     */
    public Step<Given> token(
            Endpoint endpoint,
            IntFunction<Post> posts,
            Instant deadline,
            Function<Denied, Optional<Reason>> own,
            UnaryOperator<String> fit) {
        return calls.post(endpoint, posts, deadline)
                .then(reply ->
                        switch (TokenReply.of(reply)) {
                            case Given given -> new Done<>(given);
                            case Denied denied ->
                                    new Stopped<>(
                                            Calls.failed(
                                                    own.apply(denied)
                                                            .orElseGet(() -> meaning(denied)),
                                                    fit.apply(quote(denied)),
                                                    endpoint));
                            case Unreadable(String why) ->
                                    new Stopped<Given>(
                                            Calls.failed(Reason.PROVIDER_ERROR, why, endpoint));
                        });
    }

    /** RFC 6749 section 5.2, RFC 8693 section 2.2.2, RFC 8707 section 2. */
    static Reason meaning(Denied denied) {
        if (denied.status() == 429) {
            return Reason.PROVIDER_THROTTLED;
        }
        return switch (denied.error().orElse("")) {
            case "invalid_client", "invalid_grant", "invalid_token" ->
                    Reason.BROKER_IDENTITY_REJECTED;
            // with 401 it is about the client's authentication (Keycloak: a wrong secret)
            case "unauthorized_client" ->
                    denied.status() == 401
                            ? Reason.BROKER_IDENTITY_REJECTED
                            : Reason.PROVIDER_REJECTED;
            case "access_denied", "invalid_target" -> Reason.PROVIDER_REJECTED;
            case "invalid_request",
                    "invalid_scope",
                    "unsupported_grant_type",
                    "unsupported_token_type" ->
                    Reason.PROVIDER_MISCONFIGURED;
            case "slow_down" -> Reason.PROVIDER_THROTTLED;
            default -> meaning(denied.status());
        };
    }

    private static Reason meaning(int status) {
        return switch (status) {
            case 401 -> Reason.BROKER_IDENTITY_REJECTED;
            case 403 -> Reason.PROVIDER_REJECTED;
            case 404, 405, 415 -> Reason.PROVIDER_MISCONFIGURED;
            default -> Reason.PROVIDER_ERROR;
        };
    }

    private static String quote(Denied denied) {
        return "%s: %s (HTTP %d)"
                .formatted(
                        denied.error().orElse("no error code"),
                        denied.description().orElse("no description"),
                        denied.status());
    }
}
