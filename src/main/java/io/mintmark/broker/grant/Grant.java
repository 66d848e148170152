package io.mintmark.broker.grant;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.time.TimeBounds;
import io.mintmark.broker.token.ClaimConditions;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * An enabled row of {@code broker.subject_grant}.
 *
 * @param subject a {@code sub} claim, or a pattern of them
 * @param validFrom inclusive
 * @param validUntil exclusive; a credential never outlives it
 * @param digest SHA-256 of what a decision uses of the row, in hexadecimal digits
 */
public record Grant(
        long id,
        IdpName idp,
        SubjectPattern subject,
        KeyName key,
        ClaimConditions claims,
        Optional<Instant> validFrom,
        Optional<Instant> validUntil,
        Optional<Duration> maxDuration,
        String digest)
        implements SubjectRule {

    @Override
    public Optional<IdpName> from() {
        return Optional.of(idp);
    }

    /** Whether an instant is within the grant's window. */
    public boolean inForce(Instant at) {
        return inForce(TimeBounds.of(at));
    }

    boolean inForce(TimeBounds now) {
        return validFrom.map(now::isFrom).orElse(true)
                && validUntil.map(now::isBefore).orElse(true);
    }

    /** How long a credential may live that is asked for now, in whole seconds. */
    Duration atMost(Duration keyLimit, TimeBounds now) {
        Duration byGrant = maxDuration.map(own -> least(own, keyLimit)).orElse(keyLimit);
        Duration byEnd =
                validUntil
                        .map(end -> least(Duration.between(now.latest(), end), byGrant))
                        .orElse(byGrant);
        return Duration.ofSeconds(byEnd.toSeconds());
    }

    private static Duration least(Duration one, Duration other) {
        return one.compareTo(other) <= 0 ? one : other;
    }
}
