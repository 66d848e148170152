package io.mintmark.broker.exchange;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.verdict.TokenRefusal;
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
import io.mintmark.base.verdict.Unavailable;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/** The facts behind a refused token, as JSON with the field names of the HTTP interface. */
public final class TokenRefusalDetails {
    /** Characters. The queue of rejected tokens holds them, and the audit log stores no more. */
    private static final int LONGEST = 2_048;

    private TokenRefusalDetails() {}

    /** Returns the fields that clients see, without the reason. */
    public static ObjectNode shown(TokenRefusal refusal) {
        ObjectNode details = JsonNodeFactory.instance.objectNode();
        return switch (refusal) {
            case TokenExpired(Instant expiredAt, Instant now) ->
                    details.put("expiredAt", time(expiredAt)).put("currentTime", time(now));
            case TokenNotYetValid early ->
                    details.put("notBefore", time(early.notBefore()))
                            .put("currentTime", time(early.currentTime()));
            case InvalidSignature(String issuer) -> details.put("issuer", issuer);
            case UnknownIssuer(String issuer, List<String> known) ->
                    with(details.put("issuer", issuer), "configuredIssuers", known);
            case InvalidAudience(List<String> audience, List<String> expected) ->
                    with(with(details, "tokenAudience", audience), "expectedAudience", expected);
            case MissingClaim(String claim) -> details.put("claim", claim);
            case UnsupportedAlgorithm(String algorithm) -> details.put("algorithm", algorithm);
            case NoTokenProvided _,
                    MalformedJwt _,
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
                    details;
            case OfActor(TokenRefusal ofActor) -> shown(ofActor).put("token", "actor");
        };
    }

    /** Returns the details for the audit log, cut to {@value #LONGEST} characters, if any. */
    static Optional<String> recorded(TokenRefusal refusal) {
        String facts =
                switch (refusal) {
                    case ClaimsNotAccepted(String expected, String seen) ->
                            "{\"expectedClaims\":%s,\"tokenClaims\":%s}".formatted(expected, seen);
                    case MalformedJwt(String fault) -> fault(fault);
                    case WrongTokenType(String sign) -> fault(sign);
                    case NoTokenProvided _,
                            TokenExpired _,
                            InvalidSignature _,
                            UnknownIssuer _,
                            InvalidAudience _,
                            TokenNotYetValid _,
                            MissingClaim _,
                            UnsupportedAlgorithm _,
                            MissingKeyId _,
                            AmbiguousAudience _,
                            TokenTooOld _,
                            TokenReplayed _,
                            SubjectNotAccepted _,
                            ActorNotAccepted _,
                            ActorMismatch _,
                            ActorNotAllowed _ ->
                            shown(refusal).toString();
                    case OfActor(TokenRefusal ofActor) ->
                            recorded(ofActor)
                                    .map(own -> "{\"token\":\"actor\"," + own.substring(1))
                                    .orElse("{\"token\":\"actor\"}");
                };
        return facts.equals("{}") ? Optional.empty() : Optional.of(cut(facts));
    }

    /** Returns the details for the audit log of a token that can't be verified for now. */
    static String recorded(Unavailable unavailable) {
        Throwable cause = unavailable.getCause() == null ? unavailable : unavailable.getCause();
        return cut(fault(String.valueOf(cause.getMessage())));
    }

    private static String fault(String text) {
        return JsonNodeFactory.instance.objectNode().put("fault", text).toString();
    }

    private static String cut(String facts) {
        return facts.substring(0, Math.min(facts.length(), LONGEST));
    }

    /** A time as the interface shows it: ISO 8601 in UTC, milliseconds. */
    public static String time(Instant at) {
        return at.truncatedTo(ChronoUnit.MILLIS).toString();
    }

    private static ObjectNode with(ObjectNode object, String member, List<String> texts) {
        texts.forEach(object.putArray(member)::add);
        return object;
    }
}
