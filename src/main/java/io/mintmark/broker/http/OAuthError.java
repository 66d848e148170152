package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.verdict.AccessRefusal;
import io.mintmark.base.verdict.AccessRefusal.KeysDenied;
import io.mintmark.base.verdict.AccessRefusal.KeysMissing;
import io.mintmark.base.verdict.AccessRefusal.SubjectNotFound;
import io.mintmark.base.verdict.ApprovalRefusal;
import io.mintmark.base.verdict.LimitRefusal;
import io.mintmark.base.verdict.MintRefusal;
import io.mintmark.base.verdict.MovedRefusal;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.RequestRefusal;
import io.mintmark.base.verdict.RequestRefusal.BadElements;
import io.mintmark.base.verdict.RequestRefusal.BadField;
import io.mintmark.base.verdict.RequestRefusal.KeyOfOtherType;
import io.mintmark.base.verdict.RequestRefusal.OneTimeToken;
import io.mintmark.base.verdict.RequestRefusal.SharedOutputs;
import io.mintmark.base.verdict.RequestRefusal.TooShort;
import io.mintmark.base.verdict.RequestRefusal.UnacceptedOutputs;
import io.mintmark.base.verdict.RequestRefusal.WrongTarget;
import io.mintmark.base.verdict.TokenRefusal;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * An error as OAuth 2.0 clients read it (RFC 6749 section 5.2, RFC 8693 section 2.2.2).
 *
 * @param error the registered word
 * @param description a sentence that helps; what the RFC's characters can't express is left out
 * @param anchor where the {@link ErrorPage} explains it
 */
record OAuthError(
        int status, String error, String description, String anchor, OptionalLong retryAfterSeconds)
        implements ErrorAnswer {
    private static final int BAD_REQUEST = 400;
    private static final int UNAUTHORIZED = 401;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVER_ERROR = 500;
    private static final int UNAVAILABLE = 503;

    /** Characters that RFC 6749 section 5.2 doesn't allow in a description. */
    private static final Pattern UNSAYABLE = Pattern.compile("[^ !#-\\[\\]-~]");

    OAuthError {
        description = UNSAYABLE.matcher(description.replace('"', '\'')).replaceAll("?");
    }

    /** An error that its parameters alone show. */
    static OAuthError of(String error, String description) {
        return of(error, description, ErrorPage.anchor("INVALID_REQUEST", Json.object()));
    }

    private static OAuthError of(String error, String description, String anchor) {
        return new OAuthError(BAD_REQUEST, error, description, anchor, OptionalLong.empty());
    }

    /** The error for an invalid client token in the header, which no grant type reads. */
    static OAuthError invalidClient() {
        return new OAuthError(
                UNAUTHORIZED,
                "invalid_client",
                "Send the identity token in the form. This endpoint ignores the Authorization header, and rejects every scheme in it except Basic.",
                "no_token_provided",
                OptionalLong.empty());
    }

    /** The error for an assertion that authenticates no client (RFC 7521 section 4.2.1). */
    static OAuthError invalidClient(TokenRefusal refusal) {
        return new OAuthError(
                UNAUTHORIZED,
                "invalid_client",
                description(refusal),
                refusal.word(),
                OptionalLong.empty());
    }

    /** The error for an assertion that isn't accepted (RFC 7521 section 4.1.1). */
    static OAuthError invalidGrant(TokenRefusal refusal) {
        return of("invalid_grant", description(refusal), refusal.word());
    }

    private static String description(TokenRefusal refusal) {
        return "%s (%s)".formatted(Refusals.of(refusal).message(), refusal.word());
    }

    /** An error that isn't of this protocol: of the limits, the server or the broker. */
    static OAuthError of(ErrorBody error) {
        return new OAuthError(
                error.status(),
                word(error.status()),
                error.message(),
                error.anchor(),
                error.retryAfterSeconds());
    }

    private static String word(int status) {
        if (status == TOO_MANY_REQUESTS || status == UNAVAILABLE) {
            return "temporarily_unavailable";
        }
        return status >= SERVER_ERROR ? "server_error" : "invalid_request";
    }

    /** The error of a refusal by the use case. */
    static OAuthError of(Refusal refusal) {
        return switch (refusal) {
            case RequestRefusal request -> of(request);
            case TokenRefusal token -> of("invalid_request", description(token), token.word());
            case AccessRefusal access -> of(access);
            case ApprovalRefusal _, LimitRefusal _, MovedRefusal _ -> of(Refusals.of(refusal));
            case MintRefusal mint -> {
                ErrorBody error = Refusals.of(mint);
                yield new OAuthError(
                        SERVER_ERROR,
                        "server_error",
                        "%s (%s)".formatted(error.message(), mint.reason().word()),
                        error.anchor(),
                        error.retryAfterSeconds());
            }
        };
    }

    private static OAuthError of(RequestRefusal refusal) {
        return switch (refusal) {
            case BadField(_, String reason) -> of("invalid_request", reason);
            case BadElements(_, List<String> issues) ->
                    of("invalid_request", String.join("; ", issues));
            case WrongTarget(String reason) -> of("invalid_target", reason);
            case KeyOfOtherType _ -> of("invalid_target", Refusals.of(refusal).message());
            case OneTimeToken _, TooShort _, UnacceptedOutputs _, SharedOutputs _ ->
                    of("invalid_request", Refusals.of(refusal).message());
        };
    }

    /**
     * The error for denied keys. A missing key and one that isn't granted give the same error,
     * unless the subject may ask for the key.
     */
    private static OAuthError of(AccessRefusal refusal) {
        return switch (refusal) {
            case KeysDenied denied ->
                    notForThem(
                            denied.subject(),
                            denied.actor(),
                            denied.deniedKeys(),
                            DeniedKeys.because(denied),
                            denied.requestableKeys());
            case KeysMissing(String subject, List<String> keys) ->
                    notForThem(subject, Optional.empty(), keys, "", List.of());
            case SubjectNotFound(String subject, _, var actor) ->
                    notForThem(subject, actor, List.of(), "", List.of());
        };
    }

    private static OAuthError notForThem(
            String subject,
            Optional<String> actor,
            List<String> keys,
            String because,
            List<String> requestable) {
        return of(
                "invalid_target",
                "Subject '%s'%s has no active grant for a key '%s'%s; %s."
                        .formatted(
                                subject,
                                Refusals.with(actor),
                                String.join("', '", keys),
                                because,
                                DeniedKeys.advice(requestable)),
                ErrorPage.anchor("FORBIDDEN", Json.object()));
    }

    @Override
    public Content content(String requestId, Instant at, ErrorPage page) {
        ObjectNode body =
                Json.object()
                        .put("error", error)
                        .put(
                                "error_description",
                                "%s (request %s)".formatted(description, requestId));
        return Content.json(page.link(body, "error_uri", anchor));
    }
}
