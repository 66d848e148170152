package io.mintmark.identity;

import io.mintmark.outbound.Secret;

import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;

/**
 * A token of the broker's that several mints use.
 *
 * @param renewableFrom when to ask for the next one
 * @param usableUntil shortly before it expires, so that it is still good when the provider looks
 */
record HeldToken(Secret text, Instant renewableFrom, Instant usableUntil) {
    private static final double RENEWED_AFTER = 0.75;
    private static final double SPREAD = 0.1;
    private static final Duration MARGIN = Duration.ofSeconds(10);
    private static final int SHORT_PART = 10;

    /**
     * A token that came at {@code now}. The next one is asked for when about a fifth of its life is
     * left: enough for an identity provider to come back in.
     *
     * @param random spreads the requests of replicas that started together
     */
    static HeldToken from(IssuedToken token, Instant now, RandomGenerator random) {
        Duration life = Duration.between(now, token.expiresAt());
        Duration margin = life.dividedBy(SHORT_PART);
        return new HeldToken(
                token.text(),
                now.plusMillis(
                        (long) (life.toMillis() * (RENEWED_AFTER + SPREAD * random.nextDouble()))),
                token.expiresAt().minus(margin.compareTo(MARGIN) < 0 ? margin : MARGIN));
    }

    boolean isUsable(Instant now) {
        return now.isBefore(usableUntil);
    }

    boolean isRenewable(Instant now) {
        return !now.isBefore(renewableFrom);
    }
}
