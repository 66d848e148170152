package io.mintmark.broker.identity;

import io.mintmark.base.outbound.Secret;
import io.mintmark.broker.identity.TokenService.IssuedToken;

import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;

/**
 * A token of the broker that several mints use.
 *
 * @param since when the broker received it
 * @param renewableFrom when to request the next one
 * @param usableUntil shortly before it expires, so that it is still valid when a provider checks it
 */
record HeldToken(Secret text, Instant since, Instant renewableFrom, Instant usableUntil) {
    private static final double RENEWED_AFTER = 0.75;
    private static final double SPREAD = 0.1;
    private static final Duration MARGIN = Duration.ofSeconds(10);
    private static final int SHORT_PART = 10;

    /** A longer lifetime is probably a mistake of the identity provider. */
    private static final Duration LONGEST_LIFE = Duration.ofDays(1);

    private static final Duration LIFE_INSTEAD = Duration.ofHours(1);
    private static final Duration YOUTH = Duration.ofSeconds(30);

    /**
     * A token that was received at {@code now}. It is renewed when about a fifth of its lifetime is
     * left, which gives an identity provider time to recover. A token with a lifetime of over a day
     * is used for an hour, because a token that is not renewed can't be withdrawn.
     *
     * @param random spreads the requests of replicas that started together
     */
    static HeldToken from(IssuedToken token, Instant now, RandomGenerator random) {
        Duration said = Duration.between(now, token.expiresAt());
        Duration life = said.compareTo(LONGEST_LIFE) <= 0 ? said : LIFE_INSTEAD;
        Duration margin = life.dividedBy(SHORT_PART);
        return new HeldToken(
                token.text(),
                now,
                now.plusMillis(
                        (long) (life.toMillis() * (RENEWED_AFTER + SPREAD * random.nextDouble()))),
                now.plus(life).minus(margin.compareTo(MARGIN) < 0 ? margin : MARGIN));
    }

    boolean isUsable(Instant now) {
        return now.isBefore(usableUntil);
    }

    /** Whether the token is so new that requesting another one would give no better one. */
    boolean isYoung(Instant now) {
        return now.isBefore(since.plus(YOUTH));
    }

    boolean isRenewable(Instant now) {
        return !now.isBefore(renewableFrom);
    }
}
