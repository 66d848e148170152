package io.mintmark.broker.http;

import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.TokenRefusal.ActorFault;
import io.mintmark.base.verdict.TokenRefusal.ActorMismatch;
import io.mintmark.base.verdict.TokenRefusal.ActorNotAccepted;
import io.mintmark.base.verdict.TokenRefusal.ActorNotAllowed;
import io.mintmark.base.verdict.TokenRefusal.AmbiguousAudience;
import io.mintmark.base.verdict.TokenRefusal.ClaimsNotAccepted;
import io.mintmark.base.verdict.TokenRefusal.InvalidAudience;
import io.mintmark.base.verdict.TokenRefusal.InvalidSignature;
import io.mintmark.base.verdict.TokenRefusal.MalformedJwt;
import io.mintmark.base.verdict.TokenRefusal.MissingClaim;
import io.mintmark.base.verdict.TokenRefusal.MissingKeyId;
import io.mintmark.base.verdict.TokenRefusal.NoTokenProvided;
import io.mintmark.base.verdict.TokenRefusal.OfActor;
import io.mintmark.base.verdict.TokenRefusal.SubjectNotAccepted;
import io.mintmark.base.verdict.TokenRefusal.TokenExpired;
import io.mintmark.base.verdict.TokenRefusal.TokenNotYetValid;
import io.mintmark.base.verdict.TokenRefusal.TokenReplayed;
import io.mintmark.base.verdict.TokenRefusal.TokenTooOld;
import io.mintmark.base.verdict.TokenRefusal.UnknownIssuer;
import io.mintmark.base.verdict.TokenRefusal.UnsupportedAlgorithm;
import io.mintmark.base.verdict.TokenRefusal.WrongTokenType;
import io.mintmark.broker.exchange.TokenRefusalDetails;

import java.time.Duration;
import java.time.Instant;

/** The responses to tokens that are not accepted. */
final class TokenRefusals {
    private TokenRefusals() {}

    static ErrorBody of(TokenRefusal refusal) {
        return ErrorBody.of(401, code(refusal), message(refusal), details(refusal));
    }

    /** {@code UNAUTHORIZED} for what HTTP API section 5.5 lists, and only for that. */
    private static String code(TokenRefusal refusal) {
        return switch (refusal) {
            case NoTokenProvided _,
                    MalformedJwt _,
                    TokenExpired _,
                    InvalidSignature _,
                    UnknownIssuer _,
                    InvalidAudience _ ->
                    "UNAUTHORIZED";
            case TokenNotYetValid _,
                    MissingClaim _,
                    UnsupportedAlgorithm _,
                    MissingKeyId _,
                    AmbiguousAudience _,
                    TokenTooOld _,
                    TokenReplayed _,
                    WrongTokenType _,
                    ClaimsNotAccepted _,
                    SubjectNotAccepted _,
                    ActorNotAccepted _,
                    ActorMismatch _,
                    ActorNotAllowed _ ->
                    "INVALID_TOKEN";
            case OfActor(TokenRefusal ofActor) -> code(ofActor);
        };
    }

    private static String message(TokenRefusal refusal) {
        return switch (refusal) {
            case NoTokenProvided() ->
                    "No token was given; send 'Authorization: Bearer <OIDC token>'.";
            case MalformedJwt(String fault) ->
                    "The token is not a well-formed signed JWT: %s; send it unchanged, as its issuer gave it."
                            .formatted(fault);
            case TokenExpired(Instant at, _) ->
                    "The token expired at %s; get a new one.".formatted(time(at));
            case InvalidSignature(String issuer) ->
                    "No key of issuer '%s' verifies the token's signature.".formatted(issuer);
            case UnknownIssuer(String issuer, _) ->
                    "No identity provider is configured for issuer '%s'.".formatted(issuer);
            case InvalidAudience _ ->
                    "The broker does not accept the token's audience; request a token with an expected "
                            + "audience from its issuer.";
            case TokenNotYetValid early -> notYetValid(early);
            case MissingClaim(String claim) -> "The token has no claim '%s'.".formatted(claim);
            case UnsupportedAlgorithm(String algorithm) ->
                    "Tokens signed with '%s' are not accepted.".formatted(algorithm);
            case MissingKeyId() -> "The token has no 'kid', and its issuer has several keys.";
            case AmbiguousAudience() ->
                    "The token's audiences match several identity providers; request a token "
                            + "with one audience.";
            case TokenTooOld() -> "The token was issued too long ago; get a new one.";
            case TokenReplayed() ->
                    "The token has already been used, and works only once; get a new one.";
            case WrongTokenType(String sign) ->
                    ("The token was not made to identify its subject: %s; send an ID token or an"
                                    + " access token of its issuer.")
                            .formatted(sign);
            case ClaimsNotAccepted _ ->
                    "The token doesn't meet required_claims of its identity provider.";
            case SubjectNotAccepted() ->
                    "The token's identity provider doesn't identify subjects; send the token of the"
                            + " subject, and that of its actor in the header"
                            + " Mintmark-Actor-Token.";
            case ActorNotAccepted(ActorFault fault) ->
                    "The actor is not accepted: " + clause(fault);
            case ActorMismatch() ->
                    "The claim 'act' of the subject's token names another actor; send that actor's"
                            + " token, or none.";
            case ActorNotAllowed() ->
                    "The claim 'may_act' of the subject's token does not allow this actor; send the token of the actor that the claim names.";
            case OfActor(TokenRefusal ofActor) -> "The actor's token: " + message(ofActor);
        };
    }

    private static String notYetValid(TokenNotYetValid early) {
        String claim =
                switch (early) {
                    case TokenNotYetValid.ByNotBefore _ -> "nbf";
                    case TokenNotYetValid.ByIssuedAt _ -> "iat";
                };
        long seconds =
                Duration.between(early.currentTime(), early.notBefore())
                        .plusMillis(999)
                        .toSeconds();
        return "The token is not valid yet: its %s is %s, %d seconds ahead of the broker's clock; compare the issuer's clock with the broker's."
                .formatted(claim, time(early.notBefore()), seconds);
    }

    private static String clause(ActorFault fault) {
        return switch (fault) {
            case PROVIDER_ACCEPTS_NONE ->
                    "its identity provider doesn't accept actors; ask an admin to add actor to"
                            + " the provider's accepts.";
            case OTHER_TENANT ->
                    "its identity provider belongs to another tenant; send a token from an identity provider of the subject's tenant.";
            case DELEGATED ->
                    "the actor's token has a claim 'act', so another party acts for this actor; send a token that the actor got for itself.";
            case SUBJECT_ITSELF ->
                    "the actor is also the subject; send the request without the actor's token.";
            case CLAIM_OF_OTHERS ->
                    "the claim 'act' must have the actor's 'sub', and an 'iss' only if it is the"
                            + " token's own; send the actor's token.";
        };
    }

    private static ObjectNode details(TokenRefusal refusal) {
        return Json.object()
                .put("reason", refusal.word())
                .setAll(TokenRefusalDetails.shown(refusal));
    }

    private static String time(Instant at) {
        return TokenRefusalDetails.time(at);
    }
}
