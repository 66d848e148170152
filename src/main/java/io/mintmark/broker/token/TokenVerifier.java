package io.mintmark.broker.token;

import io.mintmark.base.outbound.Secret;
import io.mintmark.base.time.Clocks;
import io.mintmark.base.time.TimeBounds;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.TokenRefusal.AmbiguousAudience;
import io.mintmark.base.verdict.TokenRefusal.ClaimsNotAccepted;
import io.mintmark.base.verdict.TokenRefusal.InvalidAudience;
import io.mintmark.base.verdict.TokenRefusal.MissingClaim;
import io.mintmark.base.verdict.TokenRefusal.TokenReplayed;
import io.mintmark.base.verdict.TokenRefusal.UnknownIssuer;
import io.mintmark.base.verdict.TokenRefusal.UnsupportedAlgorithm;
import io.mintmark.base.verdict.TokenRefusal.WrongTokenType;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.token.Examination.Finding.Decided;
import io.mintmark.broker.token.Examination.Finding.Open;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Verifies inbound tokens (HTTP API section 5). The order of the checks is part of the contract:
 * each is made only if all before it passed, and beyond issuer and algorithm nothing is reported of
 * a token before its signature is verified.
 *
 * <p>{@link #examine} changes nothing and may be called any number of times for one request. A
 * provider's token that works once is used up by {@link #redeem}, which the use case calls once,
 * last of all.
 */
public final class TokenVerifier {
    /** RFC 7518 section 3.1 and RFC 8037, without symmetric algorithms and {@code none}. */
    static final Set<String> ALGORITHMS =
            Set.of(
                    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
                    "EdDSA");

    private final IdentityProviders providers;
    private final Signatures signatures;
    private final UsedTokens usedTokens;
    private final OwnIssuer ownIssuer;
    private final Clocks clocks;

    /**
     * Wires a verifier.
     *
     * @param ownIssuer the broker's own, which is never accepted here
     * @param clocks for the validity of tokens
     */
    public TokenVerifier(
            IdentityProviders providers,
            IssuerKeys signingKeys,
            UsedTokens usedTokens,
            OwnIssuer ownIssuer,
            Clocks clocks) {
        this.providers = providers;
        this.signatures = new Signatures(signingKeys);
        this.usedTokens = usedTokens;
        this.ownIssuer = ownIssuer;
        this.clocks = clocks;
    }

    /**
     * Checks all of a token but whether it was used before.
     *
     * @throws io.mintmark.base.verdict.Unavailable if the configuration can't be had; that the
     *     issuer's keys can't is a result
     */
    public Examination examine(PresentedToken token) {
        return examine(token, KeyWait.ALLOWED);
    }

    /**
     * Examines a token where not every request may wait for keys.
     *
     * @param wait called before the thread waits for keys
     */
    public Examination examine(PresentedToken token, KeyWait wait) {
        return examine(token.text(), wait);
    }

    /** Examines a token by itself, such as that of an actor. */
    public Examination examine(Secret token, KeyWait wait) {
        byte[] hash = token.hash();
        return switch (Jwt.parse(token.reveal())) {
            case Verdict.Passed<Jwt>(Jwt jwt) -> examine(jwt, hash, wait);
            case Verdict.Refused<Jwt>(Refusal refusal) -> Examination.refused(refusal, hash);
        };
    }

    /** Uses up the token if its provider's tokens work only once. */
    public Verdict<VerifiedToken> redeem(VerifiedToken token) {
        boolean good =
                !token.provider().oneTimeTokens()
                        || usedTokens.use(
                                token.provider().name(),
                                token.tokenId().orElseThrow(),
                                token.acceptableUntil());
        return good ? Verdict.passed(token) : Verdict.refused(new TokenReplayed());
    }

    private Examination examine(Jwt jwt, byte[] hash, KeyWait wait) {
        Optional<String> issuer =
                jwt.issuer().filter(i -> !ownIssuer.is(i)).filter(providers::knows);
        List<IdentityProvider> trusting =
                issuer.map(i -> providers.trusting(i, jwt.audiences())).orElse(List.of());
        return new Examination(
                finding(jwt, issuer, trusting, hash, wait),
                hash,
                issuer,
                trusting.size() == 1 ? Optional.of(trusting.getFirst()) : Optional.empty());
    }

    private Examination.Finding finding(
            Jwt jwt,
            Optional<String> known,
            List<IdentityProvider> trusting,
            byte[] hash,
            KeyWait wait) {
        try {
            return new Decided(verdict(jwt, known, trusting, hash, wait));
        } catch (Unavailable e) {
            return new Open(e);
        }
    }

    private Verdict<VerifiedToken> verdict(
            Jwt jwt,
            Optional<String> known,
            List<IdentityProvider> trusting,
            byte[] hash,
            KeyWait wait) {
        TimeBounds now = clocks.now();
        return algorithm(jwt)
                .then(_ -> issuer(jwt, known))
                .then(issuer -> signatures.signer(jwt, issuer, signers(issuer, trusting), wait))
                .then(signer -> purpose(jwt, signer, trusting))
                .then(signer -> lifetime(jwt, signer, trusting))
                .then(lifetime -> lifetime.isOn(now))
                .then(lifetime -> audience(lifetime, trusting))
                .then(lifetime -> requiredClaims(lifetime, jwt))
                .then(lifetime -> lifetime.isYoungOn(now))
                .map(lifetime -> new VerifiedToken(jwt, lifetime, hash));
    }

    private static Verdict<Jwt> algorithm(Jwt jwt) {
        return ALGORITHMS.contains(jwt.algorithm())
                ? Verdict.passed(jwt)
                : Verdict.refused(new UnsupportedAlgorithm(jwt.algorithm()));
    }

    private Verdict<String> issuer(Jwt jwt, Optional<String> known) {
        if (jwt.issuer().isEmpty()) {
            return Verdict.refused(new MissingClaim("iss"));
        }
        return known.map(Verdict::passed)
                .orElseGet(() ->
                        Verdict.refused(
                                new UnknownIssuer(jwt.issuer().get(), providers.listedIssuers())));
    }

    /** If the audiences don't select one provider, all providers that the token could be from. */
    private List<IdentityProvider> signers(String issuer, List<IdentityProvider> trusting) {
        return trusting.isEmpty() ? providers.listed(issuer) : trusting;
    }

    /**
     * Checks the purpose of a token. Further types are only accepted if one provider alone accepts
     * the token.
     */
    private static Verdict<IdentityProvider> purpose(
            Jwt jwt, IdentityProvider signer, List<IdentityProvider> trusting) {
        Optional<WrongTokenType> other =
                trusting.size() == 1 ? Purpose.other(jwt, signer.tokenTypes()) : Optional.empty();
        return other.<Verdict<IdentityProvider>>map(Verdict::refused)
                .orElseGet(() -> Verdict.passed(signer));
    }

    /**
     * Reads the registered claims. A {@code jti} is only required if one provider alone accepts the
     * token.
     */
    private static Verdict<Lifetime> lifetime(
            Jwt jwt, IdentityProvider signer, List<IdentityProvider> trusting) {
        boolean withId = trusting.size() == 1 && signer.oneTimeTokens();
        return Claims.read(jwt, withId).map(claims -> new Lifetime(claims, signer));
    }

    private Verdict<Lifetime> audience(Lifetime lifetime, List<IdentityProvider> trusting) {
        return switch (trusting.size()) {
            case 0 ->
                    Verdict.refused(
                            new InvalidAudience(
                                    lifetime.claims().audience(),
                                    expectedAudience(lifetime.provider().issuer())));
            case 1 -> Verdict.passed(lifetime);
            default -> Verdict.refused(new AmbiguousAudience());
        };
    }

    private static Verdict<Lifetime> requiredClaims(Lifetime lifetime, Jwt jwt) {
        IdentityProvider provider = lifetime.provider();
        ClaimConditions required = provider.requiredClaims();
        SeenClaims claims = new SeenClaims.OfToken(ComparableClaims.of(jwt.claims()));
        return required.areMetBy(claims, new MatchingBudget(provider.tenant()))
                ? Verdict.passed(lifetime)
                : Verdict.refused(
                        new ClaimsNotAccepted(
                                required.json(), ClaimConditions.json(required.seenIn(claims))));
    }

    private List<String> expectedAudience(String issuer) {
        return providers.listed(issuer).stream()
                .flatMap(provider -> provider.audiences().stream())
                .distinct()
                .limit(IdentityProviders.MOST_SHOWN)
                .toList();
    }
}
