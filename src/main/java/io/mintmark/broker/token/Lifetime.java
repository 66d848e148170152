package io.mintmark.broker.token;

import io.mintmark.base.time.TimeBounds;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.TokenRefusal.TokenExpired;
import io.mintmark.base.verdict.TokenRefusal.TokenNotYetValid;
import io.mintmark.base.verdict.TokenRefusal.TokenTooOld;
import io.mintmark.base.verdict.Verdict;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * When a token is good, by its own times and the rules of its provider, skew included. Its ends are
 * judged by the clock that is ahead, its beginnings by the one that is behind.
 */
record Lifetime(Claims claims, IdentityProvider provider) {
    /** The time by which {@code iat} may be in the future, in addition to the provider's skew. */
    private static final Duration AHEAD = Duration.ofMinutes(1);

    /** Checks {@code exp}, then {@code nbf}, then {@code iat}. */
    Verdict<Lifetime> isOn(TimeBounds now) {
        Duration skew = provider.clockSkew();
        if (!now.isBefore(claims.expiresAt().plus(skew))) {
            return Verdict.refused(new TokenExpired(claims.expiresAt(), now.latest()));
        }
        return claims.notBefore()
                .filter(start -> !now.isFrom(start.minus(skew)))
                .<TokenRefusal>map(start -> new TokenNotYetValid.ByNotBefore(start, now.earliest()))
                .or(() ->
                        Optional.of(claims.issuedAt())
                                .filter(at -> !now.isFrom(at.minus(skew).minus(AHEAD)))
                                .map(at -> new TokenNotYetValid.ByIssuedAt(at, now.earliest())))
                .map(Verdict::<Lifetime>refused)
                .orElseGet(() -> Verdict.passed(this));
    }

    /** Requires that the token isn't older than the provider allows. */
    Verdict<Lifetime> isYoungOn(TimeBounds now) {
        return youngUntil().filter(now.latest()::isAfter).isPresent()
                ? Verdict.refused(new TokenTooOld())
                : Verdict.passed(this);
    }

    /** When the token stops being acceptable by itself. */
    Instant end() {
        Instant expiry = claims.expiresAt().plus(provider.clockSkew());
        return youngUntil().filter(expiry::isAfter).orElse(expiry);
    }

    private Optional<Instant> youngUntil() {
        return provider.maxTokenAge()
                .map(age -> claims.issuedAt().plus(age).plus(provider.clockSkew()));
    }
}
