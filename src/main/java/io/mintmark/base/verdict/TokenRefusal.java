package io.mintmark.base.verdict;

import java.time.Instant;
import java.util.List;

/**
 * The token was not accepted: 401. The first six are those of HTTP API section 5.5 ({@code
 * UNAUTHORIZED}), the others are {@code INVALID_TOKEN}.
 */
public sealed interface TokenRefusal extends Refusal {

    /** The request has no token in any of the places that the interface names. */
    record NoTokenProvided() implements TokenRefusal {}

    /**
     * The token is not a JWT, or exceeds a limit on its size or form.
     *
     * @param fault a clause that names the part and what is wrong with it, and quotes nothing
     */
    record MalformedJwt(String fault) implements TokenRefusal {}

    /** {@code exp} has passed. */
    record TokenExpired(Instant expiredAt, Instant currentTime) implements TokenRefusal {}

    /** The signature does not verify with any key of the claimed identity provider. */
    record InvalidSignature(String issuer) implements TokenRefusal {}

    /** No enabled identity provider has this issuer. */
    record UnknownIssuer(String issuer, List<String> configuredIssuers) implements TokenRefusal {
        public UnknownIssuer {
            configuredIssuers = List.copyOf(configuredIssuers);
        }
    }

    /** The token is genuine, but for another audience. */
    record InvalidAudience(List<String> tokenAudience, List<String> expectedAudience)
            implements TokenRefusal {
        public InvalidAudience {
            tokenAudience = List.copyOf(tokenAudience);
            expectedAudience = List.copyOf(expectedAudience);
        }
    }

    /** A time of the token is in the future. */
    sealed interface TokenNotYetValid extends TokenRefusal {
        Instant notBefore();

        Instant currentTime();

        /** The token's {@code nbf} is in the future. */
        record ByNotBefore(Instant notBefore, Instant currentTime) implements TokenNotYetValid {}

        /** The token's {@code iat} is more than a minute in the future. */
        record ByIssuedAt(Instant notBefore, Instant currentTime) implements TokenNotYetValid {}
    }

    /** A required claim is missing. */
    record MissingClaim(String claim) implements TokenRefusal {}

    /** The broker doesn't support the algorithm, or the identity provider's row excludes it. */
    record UnsupportedAlgorithm(String algorithm) implements TokenRefusal {}

    /** The identity provider has several keys, and the token names none of them. */
    record MissingKeyId() implements TokenRefusal {}

    /** The token's audiences lead to more than one identity provider. */
    record AmbiguousAudience() implements TokenRefusal {}

    /** The token is older than the identity provider's {@code max_token_age}. */
    record TokenTooOld() implements TokenRefusal {}

    /** The identity provider's tokens work once, and this one was used already. */
    record TokenReplayed() implements TokenRefusal {}

    /**
     * The token is genuine, and was made for something else than to identify its subject.
     *
     * @param sign a clause that names what shows it
     */
    record WrongTokenType(String sign) implements TokenRefusal {}

    /**
     * The token does not meet the identity provider's {@code required_claims}. Clients see neither
     * field.
     *
     * @param expected the conditions, a JSON object
     * @param seen the token's values of these claims, a JSON object
     */
    record ClaimsNotAccepted(String expected, String seen) implements TokenRefusal {}

    /** The identity provider's tokens don't identify subjects ({@code accepts}). */
    record SubjectNotAccepted() implements TokenRefusal {}

    /** The token or claim that names the actor is not accepted. */
    record ActorNotAccepted(ActorFault fault) implements TokenRefusal {}

    /** Why a token or a claim can't name the actor. */
    enum ActorFault {
        /** {@code accepts} of the identity provider lacks {@code actor}. */
        PROVIDER_ACCEPTS_NONE,
        OTHER_TENANT,
        /** The actor's token has a claim {@code act}: somebody else uses it. */
        DELEGATED,
        /** Subject and actor are the same party, or one token was sent for both. */
        SUBJECT_ITSELF,
        /** The claim {@code act} has no {@code sub}, or names another issuer. */
        CLAIM_OF_OTHERS
    }

    /** The subject's token names another actor than the actor's token. */
    record ActorMismatch() implements TokenRefusal {}

    /** The subject's token allows only a certain actor ({@code may_act}), and this is none. */
    record ActorNotAllowed() implements TokenRefusal {}

    /** The actor's token, which came with the subject's, was not accepted. */
    record OfActor(TokenRefusal refusal) implements TokenRefusal {}

    /** The stable word of {@code details.reason}, and of the audit log's {@code reason}. */
    @Override
    default String word() {
        return switch (this) {
            case NoTokenProvided() -> "no_token_provided";
            case MalformedJwt _ -> "malformed_jwt";
            case TokenExpired _ -> "token_expired";
            case InvalidSignature _ -> "invalid_signature";
            case UnknownIssuer _ -> "unknown_issuer";
            case InvalidAudience _ -> "invalid_audience";
            case TokenNotYetValid _ -> "token_not_yet_valid";
            case MissingClaim _ -> "missing_claim";
            case UnsupportedAlgorithm _ -> "unsupported_algorithm";
            case MissingKeyId() -> "missing_key_id";
            case AmbiguousAudience() -> "ambiguous_audience";
            case TokenTooOld() -> "token_too_old";
            case TokenReplayed() -> "token_replayed";
            case WrongTokenType _ -> "wrong_token_type";
            case ClaimsNotAccepted _ -> "claims_not_accepted";
            case SubjectNotAccepted() -> "subject_not_accepted";
            case ActorNotAccepted _ -> "actor_not_accepted";
            case ActorMismatch() -> "actor_mismatch";
            case ActorNotAllowed() -> "actor_not_allowed";
            case OfActor(TokenRefusal refusal) -> refusal.word();
        };
    }
}
